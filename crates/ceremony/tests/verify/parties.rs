//! Parties on the frost crates.

use std::collections::BTreeMap;

use fieldspar_ceremony::keccak256;
use fieldspar_ceremony::verify::frost;
use fieldspar_ceremony::verify::keygen::Keygen;
use fieldspar_ceremony::verify::{Ciphersuite, Element};
use frost_core as theirs;
use rand_core::{CryptoRng, RngCore};
use theirs::Identifier;
use theirs::keys::{KeyPackage, PublicKeyPackage, dkg};

/// Numbers that look random and are the same every time; for tests only.
pub(crate) struct Numbers(u64, u64);

impl Numbers {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed, 0)
    }
}

impl RngCore for Numbers {
    fn next_u32(&mut self) -> u32 {
        self.next_u64() as u32
    }

    fn next_u64(&mut self) -> u64 {
        self.1 += 1;
        let digest = keccak256(&[self.0.to_le_bytes(), self.1.to_le_bytes()].concat());
        u64::from_le_bytes(*digest.first_chunk::<8>().unwrap())
    }

    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let len = chunk.len();
            chunk.copy_from_slice(&self.next_u64().to_le_bytes()[..len]);
        }
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), rand_core::Error> {
        self.fill_bytes(bytes);
        Ok(())
    }
}

impl CryptoRng for Numbers {}

pub(crate) fn id<C: theirs::Ciphersuite>(index: u16) -> Identifier<C> {
    (index + 1).try_into().unwrap()
}

/// Everything that a key generation leaves behind.
pub(crate) struct Generated<C: theirs::Ciphersuite> {
    pub(crate) round1: BTreeMap<Identifier<C>, dkg::round1::Package<C>>,
    /// By sender and recipient.
    pub(crate) shares: BTreeMap<(u16, u16), [u8; 32]>,
    pub(crate) keys: Vec<KeyPackage<C>>,
    pub(crate) public: PublicKeyPackage<C>,
    pub(crate) threshold: u16,
}

/// A key generation of frost-core's parties.
pub(crate) fn generate<C: theirs::Ciphersuite>(n: u16, t: u16, seed: u64) -> Generated<C> {
    let mut numbers = Numbers::new(seed);
    let mut round1 = BTreeMap::new();
    let mut secrets = Vec::new();
    for i in 0..n {
        let (secret, package) = dkg::part1::<C, _>(id(i), n, t, &mut numbers).unwrap();
        secrets.push(secret);
        round1.insert(id(i), package);
    }
    let others = |i: u16| {
        let mut all = round1.clone();
        all.remove(&id(i));
        all
    };
    let mut shares = BTreeMap::new();
    let mut seconds = Vec::new();
    let mut sent: BTreeMap<u16, BTreeMap<Identifier<C>, dkg::round2::Package<C>>> = BTreeMap::new();
    for (i, secret) in (0..n).zip(secrets) {
        let (second, packages) = dkg::part2(secret, &others(i)).unwrap();
        for j in (0..n).filter(|j| *j != i) {
            let package = packages[&id(j)].clone();
            let share = package.signing_share().serialize();
            shares.insert((i, j), share.try_into().unwrap());
            sent.entry(j).or_default().insert(id(i), package);
        }
        seconds.push(second);
    }
    let mut keys = Vec::new();
    let mut public = None;
    for (i, second) in (0..n).zip(&seconds) {
        let (key, package) = dkg::part3(second, &others(i), &sent[&i]).unwrap();
        assert!(public.as_ref().is_none_or(|p| *p == package));
        keys.push(key);
        public = Some(package);
    }
    Generated {
        round1,
        shares,
        keys,
        public: public.unwrap(),
        threshold: t,
    }
}

impl<C: theirs::Ciphersuite> Generated<C> {
    pub(crate) fn ours<S: Ciphersuite>(&self) -> Keygen<S> {
        frost::keygen(&self.round1, self.threshold).unwrap()
    }

    /// A participant's round-1 message without its one-time key.
    pub(crate) fn message(&self, index: u16) -> Vec<u8> {
        let package = &self.round1[&id(index)];
        let mut bytes = package.commitment().serialize_whole().unwrap();
        bytes.extend(package.proof_of_knowledge().serialize().unwrap());
        bytes
    }

    pub(crate) fn key<S: Ciphersuite>(&self) -> Element<S> {
        frost::verifying_key(self.public.verifying_key()).unwrap()
    }

    pub(crate) fn key_bytes(&self) -> Vec<u8> {
        self.public.verifying_key().serialize().unwrap()
    }

    pub(crate) fn verifying<S: Ciphersuite>(&self, signers: &[u16]) -> Vec<S::Point> {
        let share = |&i: &u16| {
            let bytes = self.public.verifying_shares()[&id(i)].serialize().unwrap();
            *Element::<S>::parse(&bytes).unwrap().point()
        };
        signers.iter().map(share).collect()
    }

    pub(crate) fn sign(&self, signers: &[u16], message: &[u8], seed: u64) -> Signed<C> {
        let mut numbers = Numbers::new(seed);
        let mut nonces = Vec::new();
        let mut commitments = BTreeMap::new();
        for &i in signers {
            let share = self.keys[usize::from(i)].signing_share();
            let (nonce, commitment) = theirs::round1::commit(share, &mut numbers);
            nonces.push(nonce);
            commitments.insert(id(i), commitment);
        }
        let package = theirs::SigningPackage::new(commitments.clone(), message);
        let shares: BTreeMap<_, _> = signers
            .iter()
            .zip(&nonces)
            .map(|(&i, nonce)| {
                let key = &self.keys[usize::from(i)];
                (id(i), theirs::round2::sign(&package, nonce, key).unwrap())
            })
            .collect();
        let signature = theirs::aggregate(&package, &shares, &self.public).unwrap();
        let commitments = signers.iter().map(|&i| {
            let c = &commitments[&id(i)];
            let (hiding, binding) = (c.hiding().serialize(), c.binding().serialize());
            [hiding.unwrap(), binding.unwrap()].concat()
        });
        Signed {
            commitments: commitments.collect(),
            shares: signers
                .iter()
                .map(|&i| shares[&id(i)].serialize())
                .collect(),
            signature,
        }
    }
}

/// What a signing leaves behind, in the signers' order.
pub(crate) struct Signed<C: theirs::Ciphersuite> {
    pub(crate) commitments: Vec<Vec<u8>>,
    pub(crate) shares: Vec<Vec<u8>>,
    pub(crate) signature: theirs::Signature<C>,
}

pub(crate) fn slices(list: &[Vec<u8>]) -> Vec<&[u8]> {
    list.iter().map(Vec::as_slice).collect()
}
