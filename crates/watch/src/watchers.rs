//! [`Watchers`]: all watchers of a cache, by slot, each under a name that is never given twice.

use crate::WatcherId;
use crate::watcher::Watcher;

#[derive(Debug, Default)]
struct Slot {
    generation: u32,
    /// Boxed, so that slots stay small and watchers never move.
    watcher: Option<Box<Watcher>>,
}

/// The watchers of one cache.
#[derive(Debug, Default)]
pub(crate) struct Watchers {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

impl Watchers {
    /// A name for a watcher that is about to be put in.
    pub(crate) fn reserve(&mut self) -> WatcherId {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            (self.slots.len() - 1) as u32
        });
        let generation = self
            .slots
            .get(slot as usize)
            .map_or(0, |slot| slot.generation);
        WatcherId { slot, generation }
    }

    /// Puts a watcher in under the name that [`Watchers::reserve`] gave.
    pub(crate) fn insert(&mut self, id: WatcherId, watcher: Watcher) {
        if let Some(slot) = self.slots.get_mut(id.slot as usize) {
            slot.watcher = Some(Box::new(watcher));
        }
    }

    pub(crate) fn remove(&mut self, id: WatcherId) -> Option<Box<Watcher>> {
        let slot = self.slots.get_mut(id.slot as usize)?;
        if slot.generation != id.generation {
            return None;
        }
        let watcher = slot.watcher.take()?;
        // A slot whose generations are used up is not used again.
        if let Some(next) = slot.generation.checked_add(1) {
            slot.generation = next;
            self.free.push(id.slot);
        }
        Some(watcher)
    }

    pub(crate) fn get_mut(&mut self, id: WatcherId) -> Option<&mut Watcher> {
        let slot = self.slots.get_mut(id.slot as usize)?;
        slot.watcher
            .as_deref_mut()
            .filter(|_| slot.generation == id.generation)
    }

    pub(crate) fn get(&self, id: WatcherId) -> Option<&Watcher> {
        let slot = self.slots.get(id.slot as usize)?;
        slot.watcher
            .as_deref()
            .filter(|_| slot.generation == id.generation)
    }

    /// The watcher in `slot`, with its name.
    pub(crate) fn at_mut(&mut self, slot: u32) -> Option<(WatcherId, &mut Watcher)> {
        let place = self.slots.get_mut(slot as usize)?;
        let id = WatcherId {
            slot,
            generation: place.generation,
        };
        place.watcher.as_deref_mut().map(|watcher| (id, watcher))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (WatcherId, &Watcher)> {
        self.slots.iter().zip(0..).filter_map(|(place, slot)| {
            let id = WatcherId {
                slot,
                generation: place.generation,
            };
            place.watcher.as_deref().map(|watcher| (id, watcher))
        })
    }
}
