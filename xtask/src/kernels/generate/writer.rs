//! Straight-line code as it is written down: every operation gives a value with a name of its own.
#![forbid(unsafe_code)]

use super::{
    babybear::Element,
    dialect::{Dialect, Primitive},
};

/// The name of a value in the text.
pub(crate) type Value = String;

/// A file under way.
pub(crate) struct Writer<'d, D> {
    dialect: &'d D,
    text: String,
    depth: usize,
    values: usize,
}

impl<'d, D: Dialect> Writer<'d, D> {
    pub(crate) fn new(dialect: &'d D, about: &str) -> Self {
        Self {
            dialect,
            text: dialect.head(about),
            depth: 0,
            values: 0,
        }
    }

    pub(crate) fn finish(self) -> String {
        self.text
    }

    fn line(&mut self, line: &str) {
        // Directives start their line.
        if !line.starts_with('#') {
            self.text.push_str(&"  ".repeat(self.depth));
        }
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// A part at the file's top level, after an empty line.
    pub(crate) fn part(&mut self, text: &str) {
        self.text.push('\n');
        self.text.push_str(text);
    }

    /// A table of constants.
    pub(crate) fn table(&mut self, name: &str, words: &[u32]) {
        let table = self.dialect.table(name, words);
        self.part(&table);
    }

    /// A procedure on `length` words.
    pub(crate) fn procedure(
        &mut self,
        comment: &str,
        name: &str,
        length: usize,
        parameters: &[&str],
        body: impl FnOnce(&mut Self),
    ) {
        let first = self.dialect.procedure(name, length, parameters);
        self.part(&format!("// {}\n", comment.replace('\n', "\n// ")));
        self.values = 0;
        self.block(&first, body);
    }

    /// A loop that stays one.
    pub(crate) fn rolled(&mut self, variable: &str, count: usize, body: impl FnOnce(&mut Self)) {
        let first = self.dialect.rolled(variable, count);
        self.block(&first, body);
    }

    /// What is done under a condition.
    pub(crate) fn only(&mut self, condition: &str, body: impl FnOnce(&mut Self)) {
        self.block(&format!("if ({condition}) {{"), body);
    }

    /// [`Dialect::copies_calls`].
    pub(crate) fn copies_calls(&self) -> bool {
        self.dialect.copies_calls()
    }

    fn block(&mut self, first: &str, body: impl FnOnce(&mut Self)) {
        for line in first.split('\n') {
            self.line(line);
        }
        self.depth += 1;
        body(self);
        self.depth -= 1;
        self.line("}");
    }

    /// A call of a procedure on the same array.
    pub(crate) fn call(&mut self, name: &str, arguments: &[&str]) {
        let call = self.dialect.call(name, arguments);
        self.line(&call);
    }

    fn bind(&mut self, value: &str) -> Value {
        let name = format!("v{}", self.values);
        self.values += 1;
        let line = self.dialect.bind(&name, value);
        self.line(&line);
        name
    }

    /// An element of the array as it is now.
    pub(crate) fn load(&mut self, index: usize) -> Value {
        let element = self.dialect.element(index);
        self.bind(&element)
    }

    /// The first `N` elements.
    pub(crate) fn load_all<const N: usize>(&mut self) -> [Value; N] {
        std::array::from_fn(|i| self.load(i))
    }

    pub(crate) fn store(&mut self, index: usize, value: &Value) {
        let line = format!("{} = {value};", self.dialect.element(index));
        self.line(&line);
    }

    pub(crate) fn store_all(&mut self, values: &[Value]) {
        for (index, value) in values.iter().enumerate() {
            self.store(index, value);
        }
    }

    /// An entry of a table.
    pub(crate) fn entry(&mut self, table: &str, index: &str) -> Value {
        let entry = self.dialect.entry(table, index);
        self.bind(&entry)
    }

    fn apply(&mut self, primitive: Primitive, arguments: &[&Value]) -> Value {
        let arguments: Vec<&str> = arguments.iter().map(|a| a.as_str()).collect();
        let call = self.dialect.apply(primitive, &arguments);
        self.bind(&call)
    }

    pub(crate) fn add(&mut self, a: &Value, b: &Value) -> Value {
        self.apply(Primitive::Add, &[a, b])
    }

    pub(crate) fn double(&mut self, a: &Value) -> Value {
        self.add(a, a)
    }

    pub(crate) fn sub(&mut self, a: &Value, b: &Value) -> Value {
        self.apply(Primitive::Sub, &[a, b])
    }

    pub(crate) fn mul_lazy(&mut self, a: &Value, b: &Value) -> Value {
        self.apply(Primitive::MulLazy, &[a, b])
    }

    pub(crate) fn reduce_once(&mut self, a: &Value) -> Value {
        self.apply(Primitive::ReduceOnce, &[a])
    }

    /// x / 2^k.
    pub(crate) fn div_2exp(&mut self, x: &Value, k: u32) -> Value {
        if k == 1 {
            return self.apply(Primitive::Halve, &[x]);
        }
        let call = self.dialect.div_2exp(x, k);
        self.bind(&call)
    }

    /// x * factor of a canonical x, canonical.
    pub(crate) fn mul_known(&mut self, x: &Value, factor: Element) -> Value {
        let product = self.dialect.mul_known(x, factor.0, factor.ratio());
        let product = self.bind(&product);
        self.reduce_once(&product)
    }

    /// (a - b) * factor of canonical words, canonical. Neither the difference nor the product is
    /// corrected before the end.
    pub(crate) fn sub_mul_known(&mut self, a: &Value, b: &Value, factor: Element) -> Value {
        let difference = self.dialect.difference(a, b);
        let difference = self.bind(&difference);
        let product = self
            .dialect
            .mul_known(&difference, factor.0, factor.ratio());
        let product = self.bind(&product);
        self.reduce_once(&product)
    }
}
