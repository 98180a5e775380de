//! Inputs from seeds: bytes changed, lines moved, pieces of a grammar put in.

/// Longest input: enough for every construct, short enough for many inputs a second.
const LONGEST: usize = 4_000;

/// A hash that is the same everywhere (FNV-1a).
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Random numbers from a seed (SplitMix64).
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end.max(1) as u64) as usize
    }
}

/// Makes inputs.
pub(crate) struct Mutator<'a> {
    dice: Dice,
    seeds: &'a [Vec<u8>],
    pieces: &'a [&'a str],
}

impl<'a> Mutator<'a> {
    pub(crate) fn new(seed: u64, seeds: &'a [Vec<u8>], pieces: &'a [&'a str]) -> Mutator<'a> {
        Mutator {
            dice: Dice::new(seed),
            seeds,
            pieces,
        }
    }

    /// The next input: a seed or nothing, then a few changes.
    pub(crate) fn input(&mut self) -> Vec<u8> {
        let mut input = match self.dice.below(8) {
            0 => Vec::new(),
            _ => self.window(),
        };
        let changes = 1 << self.dice.below(6);
        for _ in 0..changes {
            self.change(&mut input);
        }
        input.truncate(LONGEST);
        input
    }

    /// A seed, or some lines of it.
    fn window(&mut self) -> Vec<u8> {
        if self.seeds.is_empty() {
            return Vec::new();
        }
        let seed = &self.seeds[self.dice.below(self.seeds.len())];
        if self.dice.below(2) == 0 {
            return seed.clone();
        }
        let start = self.dice.below(seed.len() + 1);
        let end = (start + self.dice.below(400)).min(seed.len());
        seed[start..end].to_vec()
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        let at = self.dice.below(input.len() + 1);
        match self.dice.below(10) {
            0..=4 => {
                let piece = self.pieces[self.dice.below(self.pieces.len())];
                input.splice(at..at, piece.bytes());
            }
            5 => {
                let end = (at + 1 + self.dice.below(12)).min(input.len());
                input.drain(at.min(end)..end);
            }
            6 => {
                if let Some(byte) = input.get_mut(at) {
                    *byte ^= 1 << self.dice.below(8);
                }
            }
            7 => {
                let end = (at + self.dice.below(60)).min(input.len());
                let copied = input[at..end].to_vec();
                let to = self.dice.below(input.len() + 1);
                input.splice(to..to, copied);
            }
            8 => {
                let other = self.window();
                let end = (at + self.dice.below(200)).min(input.len());
                input.splice(at..end, other.into_iter().take(200));
            }
            _ => {
                let character = ["é", "\u{feff}", "日", "\u{0}", "\r\n", "\u{85}", "😀", "\t"];
                let character = character[self.dice.below(character.len())];
                input.splice(at..at, character.bytes());
            }
        }
    }
}
