//! The expectations of a type for a place within a value: the members of a hash, the words of an
//! enumeration, booleans. Used to complete values while they are typed.

use indexmap::IndexSet;

use super::model::{Presence, Type};

/// Maximum number of types visited for one place: aliases may be recursive.
const MAX_TYPES: usize = 2_000;

/// The types that a value may have, with variants, optional types and aliases resolved.
#[derive(Clone, Debug, Default)]
pub struct Expected(Vec<Type>);

/// A key that a type names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Member {
    /// The key.
    pub name: String,
    /// The type of its value; an alias by its name alone.
    pub expected: String,
    /// Whether the key may be missing.
    pub presence: Presence,
}

/// A value that a type names.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Word {
    /// A word of an enumeration.
    Text(String),
    /// A boolean.
    Truth(bool),
}

impl Expected {
    /// The alternatives of a type.
    #[must_use]
    pub fn of(expected: &Type) -> Expected {
        Expected::of_all([expected])
    }

    fn of_all<'t>(types: impl IntoIterator<Item = &'t Type>) -> Expected {
        let mut found = Vec::new();
        let mut left = MAX_TYPES;
        for one in types {
            add(one, &mut left, &mut found);
        }
        Expected(found)
    }

    /// The types allowed under a key of a hash.
    #[must_use]
    pub fn under(&self, key: &str) -> Expected {
        let types = self.0.iter().filter_map(|one| match one {
            Type::Struct(elements) => {
                let element = elements.iter().find(|element| *element.name == *key);
                element.map(|element| &element.value)
            }
            Type::Hash(inner, _) => Some(&inner.1),
            _ => None,
        });
        Expected::of_all(types)
    }

    /// The types allowed for the elements of a list.
    #[must_use]
    pub fn element(&self) -> Expected {
        let types = self.0.iter().flat_map(|one| match one {
            Type::Array(inner, _) => std::slice::from_ref(&**inner),
            Type::Tuple(types, _) => types,
            _ => &[],
        });
        Expected::of_all(types)
    }

    /// The words that a value may be.
    #[must_use]
    pub fn words(&self) -> Vec<Word> {
        let words = self.0.iter().flat_map(|one| match one {
            Type::Enum(one) => {
                let texts = one.values.iter();
                texts.map(|text| Word::Text(text.to_string())).collect()
            }
            Type::Boolean(None) => vec![Word::Truth(true), Word::Truth(false)],
            Type::Boolean(Some(truth)) => vec![Word::Truth(*truth)],
            _ => Vec::new(),
        });
        let distinct: IndexSet<Word> = words.collect();
        distinct.into_iter().collect()
    }

    /// The keys that a hash may have, required ones first.
    #[must_use]
    pub fn members(&self) -> Vec<Member> {
        let mut found: Vec<Member> = Vec::new();
        for one in &self.0 {
            let members: Vec<Member> = match one {
                Type::Struct(elements) => {
                    let elements = elements.iter();
                    let member = elements.map(|element| Member {
                        name: element.name.to_string(),
                        expected: short(&element.value),
                        presence: element.presence,
                    });
                    member.collect()
                }
                Type::Hash(inner, _) => {
                    let words = Expected::of(&inner.0).words().into_iter();
                    let members = words.filter_map(|word| match word {
                        Word::Text(name) => Some(Member {
                            name,
                            expected: short(&inner.1),
                            presence: Presence::Optional,
                        }),
                        Word::Truth(_) => None,
                    });
                    members.collect()
                }
                _ => Vec::new(),
            };
            for member in members {
                if found.iter().all(|known| known.name != member.name) {
                    found.push(member);
                }
            }
        }
        found.sort_by_key(|member| member.presence == Presence::Optional);
        found
    }
}

fn short(expected: &Type) -> String {
    match expected {
        Type::Alias(alias) => alias.name().to_owned(),
        expected => expected.to_string(),
    }
}

fn add(expected: &Type, left: &mut usize, found: &mut Vec<Type>) {
    let Some(fewer) = left.checked_sub(1) else {
        return;
    };
    *left = fewer;
    match expected {
        Type::Variant(types) => types.iter().for_each(|one| add(one, left, found)),
        Type::Optional(Some(inner)) | Type::NotUndef(Some(inner)) => add(inner, left, found),
        Type::Sensitive(inner) => add(inner, left, found),
        Type::Alias(alias) => add(&alias.resolved(), left, found),
        other => found.push(other.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datatype::{NoAliases, parse};

    #[test]
    fn types_list_expected_nested_values() {
        let text = "Optional[Variant[Hash[String, Struct[{a => Enum['x', 'y'], Optional[b] => \
                    Tuple[Boolean, Enum['z']]}]], Array[Enum['k']]]]";
        let whole = Expected::of(&parse(text, &NoAliases).unwrap());
        let names = |expected: &Expected| -> Vec<String> {
            let members = expected.members().into_iter();
            members.map(|member| member.name).collect()
        };
        let texts = |words: Vec<Word>| -> Vec<String> {
            let shown = words.into_iter().map(|word| match word {
                Word::Text(text) => text,
                Word::Truth(truth) => truth.to_string(),
            });
            shown.collect()
        };
        assert!(names(&whole).is_empty() && whole.words().is_empty());
        let one = whole.under("any");
        assert_eq!(names(&one), ["a", "b"]);
        assert_eq!(texts(one.under("a").words()), ["x", "y"]);
        assert_eq!(
            texts(one.under("b").element().words()),
            ["true", "false", "z"]
        );
        assert_eq!(texts(whole.element().words()), ["k"]);
        assert!(texts(one.under("c").words()).is_empty());
        let endless = Expected::of(&parse("Data", &NoAliases).unwrap());
        assert!(names(&endless.under("a").element().under("b")).is_empty());
    }
}
