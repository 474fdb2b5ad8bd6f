//! Seeded chance: the same seed gives the same choices.

/// A small generator (SplitMix64); not for secrets.
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    /// Dice that roll as this seed says.
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Other dice, as this seed and `stream` say.
    pub(crate) fn split(&self, stream: u64) -> Self {
        let mut dice = Self(self.0 ^ stream.wrapping_mul(0xd6e8_feb8_6659_fd93));
        dice.roll();
        dice
    }

    /// Any number.
    pub(crate) const fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which is not zero.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.roll() % bound as u64).unwrap_or(0)
    }

    /// Yes, once in `times`.
    pub(crate) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of these.
    pub(crate) fn pick<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len())]
    }
}

/// The number that an environment variable says, else `default`.
pub(crate) fn setting(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{name}={text} is not a number")),
        Err(_) => default,
    }
}

/// A seed: from that environment variable, else a new one.
pub(crate) fn seed(name: &str) -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    setting(
        name,
        now.map_or(0, |since| since.as_nanos() as u64 % 1_000_000_000),
    )
}
