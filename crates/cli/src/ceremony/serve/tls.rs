//! TLS for the daemon and for its clients.
#![forbid(unsafe_code)]

use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore, ServerConfig};

use crate::failure::Failure;

fn bad(path: &Path, what: &str, error: impl core::fmt::Display) -> Failure {
    Failure::input(format!("{what}: {error}")).at(path.display().to_string())
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, Failure> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_file_iter(path)
        .map_err(|e| bad(path, "no certificate", e))?
        .collect();
    match all {
        Ok(all) if all.is_empty() => Err(bad(path, "no certificate", "nothing in PEM is in it")),
        Ok(all) => Ok(all),
        Err(e) => Err(bad(path, "no certificate", e)),
    }
}

/// What a server shows.
pub(super) fn server(certificate: &Path, key: &Path) -> Result<Arc<ServerConfig>, Failure> {
    let chain = certificates(certificate)?;
    let secret = PrivateKeyDer::from_pem_file(key).map_err(|e| bad(key, "no private key", e))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|b| b.with_no_client_auth().with_single_cert(chain, secret))
        .map_err(|e| bad(certificate, "the certificate cannot be used", e))?;
    Ok(Arc::new(config))
}

/// Whom a client trusts: the certificates in a file and nobody else.
pub(crate) fn client(authority: &Path) -> Result<Arc<ClientConfig>, Failure> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(authority)? {
        roots
            .add(certificate)
            .map_err(|e| bad(authority, "the certificate cannot be trusted", e))?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|e| bad(authority, "TLS", e))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::new(config))
}
