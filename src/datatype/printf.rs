//! Ruby's `format` for one directive: flags, width, precision and a letter.

use num_bigint::{BigInt, Sign};

/// Maximum width of a field and length of a fraction.
const MAX_WIDTH: usize = 10_000;

/// A directive like `%-08.3f`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Directive {
    pub(super) left: bool,
    pub(super) alternate: bool,
    pub(super) plus: bool,
    pub(super) space: bool,
    pub(super) zero: bool,
    pub(super) width: Option<usize>,
    pub(super) precision: Option<usize>,
}

impl Directive {
    fn width(&self) -> usize {
        self.width.unwrap_or(0).min(MAX_WIDTH)
    }

    /// Text with `%s`.
    pub(super) fn text(&self, text: &str) -> String {
        let cut: String = match self.precision {
            Some(most) => text.chars().take(most).collect(),
            None => text.to_owned(),
        };
        self.padded(cut)
    }

    fn padded(&self, text: String) -> String {
        let missing = self.width().saturating_sub(text.chars().count());
        if self.left {
            text + &" ".repeat(missing)
        } else {
            " ".repeat(missing) + &text
        }
    }

    fn signed(&self, negative: bool) -> &'static str {
        match (negative, self.plus, self.space) {
            (true, _, _) => "-",
            (false, true, _) => "+",
            (false, false, true) => " ",
            (false, false, false) => "",
        }
    }

    fn number(&self, sign: &str, prefix: &str, digits: String, zeros_allowed: bool) -> String {
        let used = sign.len() + prefix.len() + digits.len();
        if self.zero && !self.left && zeros_allowed {
            let zeros = "0".repeat(self.width().saturating_sub(used));
            return format!("{sign}{prefix}{zeros}{digits}");
        }
        self.padded(format!("{sign}{prefix}{digits}"))
    }

    /// An integer with one of the letters `d x X o b B`.
    pub(super) fn integer(&self, number: &BigInt, letter: char) -> String {
        let radix = match letter {
            'x' | 'X' => 16,
            'o' => 8,
            'b' | 'B' => 2,
            _ => 10,
        };
        let negative = number.sign() == Sign::Minus;
        let prefix = match (letter, self.alternate) {
            ('x', true) => "0x",
            ('X', true) => "0X",
            ('o', true) => "0",
            ('b', true) => "0b",
            ('B', true) => "0B",
            _ => "",
        };
        let complement = negative && radix != 10 && !self.plus && !self.space;
        let (sign, mut digits) = if complement {
            ("", complement_digits(number, radix))
        } else {
            let magnitude = number.magnitude().to_str_radix(radix);
            (self.signed(negative), magnitude)
        };
        if letter == 'X' {
            digits = digits.to_uppercase();
        }
        if let Some(least) = self.precision {
            let least = least.min(MAX_WIDTH);
            digits = "0".repeat(least.saturating_sub(digits.len())) + &digits;
        }
        let prefix = if *number == BigInt::from(0) {
            ""
        } else {
            prefix
        };
        self.number(sign, prefix, digits, self.precision.is_none())
    }

    /// A float with one of the letters `f e E g G a A`.
    pub(super) fn float(&self, number: f64, letter: char) -> String {
        if !number.is_finite() {
            let text = if number.is_nan() { "NaN" } else { "Inf" };
            let sign = self.signed(number < 0.0);
            return self.padded(format!("{sign}{text}"));
        }
        let sign = self.signed(number.is_sign_negative());
        let magnitude = number.abs();
        let precision = self.precision.unwrap_or(6).min(MAX_WIDTH);
        let mut prefix = "";
        let mut digits = match letter {
            'f' => {
                let text = format!("{magnitude:.precision$}");
                if self.alternate && precision == 0 {
                    text + "."
                } else {
                    text
                }
            }
            'e' | 'E' => exponential(magnitude, precision),
            'g' | 'G' => self.shortest(magnitude),
            _ => {
                prefix = "0x";
                hexadecimal(magnitude, self.precision)
            }
        };
        if letter.is_ascii_uppercase() {
            digits = digits.to_uppercase();
            if !prefix.is_empty() {
                prefix = "0X";
            }
        }
        self.number(sign, prefix, digits, true)
    }

    fn shortest(&self, magnitude: f64) -> String {
        let significant = self.precision.unwrap_or(6).clamp(1, MAX_WIDTH);
        let text = exponential(magnitude, significant - 1);
        let exponent: i32 = text
            .split_once('e')
            .and_then(|(_, e)| e.parse().ok())
            .unwrap_or(0);
        let in_range = exponent >= -4
            && usize::try_from(exponent).map_or(true, |exponent| exponent < significant);
        let trim = |text: &str| {
            if self.alternate || !text.contains('.') {
                text.to_owned()
            } else {
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            }
        };
        if in_range {
            let decimals = i64::try_from(significant).unwrap_or(6) - 1 - i64::from(exponent);
            let decimals = usize::try_from(decimals).unwrap_or(0);
            return trim(&format!("{magnitude:.decimals$}"));
        }
        match text.split_once('e') {
            Some((mantissa, exponent)) => format!("{}e{exponent}", trim(mantissa)),
            None => text,
        }
    }
}

/// `..f01`: the digits of an endless two's complement.
fn complement_digits(number: &BigInt, radix: u32) -> String {
    let top = char::from_digit(radix - 1, radix).unwrap_or('1');
    let mut digits = number.magnitude().to_str_radix(radix).len();
    loop {
        let modulus = BigInt::from(radix).pow(u32::try_from(digits).unwrap_or(u32::MAX));
        let complement: BigInt = &modulus + number;
        if complement.sign() != Sign::Minus {
            let text = complement.to_str_radix(radix);
            let text = "0".repeat(digits - text.len().min(digits)) + &text;
            let trimmed = text.trim_start_matches(top);
            return format!("..{top}{trimmed}");
        }
        digits += 1;
    }
}

fn exponential(magnitude: f64, precision: usize) -> String {
    let text = format!("{magnitude:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, digits) = match exponent.strip_prefix('-') {
        Some(digits) => ('-', digits),
        None => ('+', exponent),
    };
    format!("{mantissa}e{sign}{digits:0>2}")
}

fn hexadecimal(magnitude: f64, precision: Option<usize>) -> String {
    if magnitude == 0.0 {
        return "0p+0".to_owned();
    }
    let bits = magnitude.to_bits();
    let raw = i64::try_from((bits >> 52) & 0x7ff).unwrap_or(0);
    let fraction = bits & ((1 << 52) - 1);
    let (lead, exponent) = if raw == 0 {
        (0, -1022)
    } else {
        (1, raw - 1023)
    };
    let mut digits = format!("{fraction:013x}");
    match precision {
        Some(precision) => digits.truncate(precision),
        None => digits = digits.trim_end_matches('0').to_owned(),
    }
    let point = if digits.is_empty() { "" } else { "." };
    format!("{lead}{point}{digits}p{exponent:+}")
}
