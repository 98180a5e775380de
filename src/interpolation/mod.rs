//! The `%{…}` tokens of Hiera strings: lexer, kinds, spans. Nothing is evaluated here.
