//! What a request says.
#![forbid(unsafe_code)]

use core::fmt;
use std::borrow::Cow;
use std::collections::HashMap;
use std::str::FromStr;

use fieldspar_ceremony::rules::v2::Operation;
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::reply::Answer;
use super::view::Page;
use crate::ceremony::common::hex_bytes;

/// The most operations of one body.
pub(crate) const MOST: usize = 256;

/// The most entries of a list in one answer.
const PAGE: usize = 1000;

/// `{"operations": ["hex", ..]}`, at most [`MOST`] of them; they are read one after another, so that
/// a body with more is refused before it takes memory.
#[derive(Debug)]
pub(super) struct Operations(pub(super) Vec<Operation>);

struct List(Vec<Operation>);

impl<'de> Deserialize<'de> for List {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = List;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of operations in hex")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<List, A::Error> {
                let mut list = Vec::new();
                while let Some(text) = all.next_element::<Cow<'de, str>>()? {
                    if list.len() == MOST {
                        return Err(A::Error::custom(format_args!(
                            "more than {MOST} operations"
                        )));
                    }
                    let at = list.len();
                    let bad = |e: &dyn fmt::Display| {
                        A::Error::custom(format_args!("operation {at}: {e}"))
                    };
                    let bytes = hex_bytes(&text).map_err(|e| bad(&e))?;
                    list.push(Operation::from_bytes(&bytes).map_err(|e| bad(&e))?);
                }
                Ok(List(list))
            }
        }
        source.deserialize_seq(Reader)
    }
}

impl<'de> Deserialize<'de> for Operations {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Operations;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with `operations`")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Operations, A::Error> {
                let mut found = None;
                while let Some(name) = fields.next_key::<Cow<'de, str>>()? {
                    if name == "operations" && found.is_none() {
                        found = Some(fields.next_value::<List>()?.0);
                    } else if name == "operations" {
                        return Err(A::Error::duplicate_field("operations"));
                    } else {
                        fields.next_value::<IgnoredAny>()?;
                    }
                }
                found
                    .map(Operations)
                    .ok_or_else(|| A::Error::missing_field("operations"))
            }
        }
        source.deserialize_map(Reader)
    }
}

/// The part of an address behind `?`. Values are numbers and words, so nothing is unescaped.
#[derive(Debug)]
pub(super) struct Query<'a>(HashMap<&'a str, &'a str>);

impl<'a> Query<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let pairs = text.split('&').filter(|pair| !pair.is_empty());
        Self(
            pairs
                .map(|p| p.split_once('=').unwrap_or((p, "")))
                .collect(),
        )
    }

    pub(super) fn number<T: FromStr>(&self, name: &str, otherwise: T) -> Result<T, Answer> {
        match self.0.get(name) {
            None => Ok(otherwise),
            Some(text) => text
                .parse()
                .map_err(|_| Answer::error(400, &format!("`{name}` is no such number"))),
        }
    }

    pub(super) fn page(&self) -> Result<Page, Answer> {
        Ok(Page {
            from: self.number("from", 0)?,
            limit: self.number("limit", 100)?.clamp(1, PAGE),
        })
    }

    /// Whether the ended ceremonies are asked for.
    pub(super) fn ended(&self) -> Result<bool, Answer> {
        match self.0.get("status") {
            None | Some(&"live") => Ok(false),
            Some(&"ended") => Ok(true),
            Some(_) => Err(Answer::error(400, "`status` is live or ended")),
        }
    }
}
