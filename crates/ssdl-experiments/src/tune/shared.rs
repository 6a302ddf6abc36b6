//! What the fits of a search have in common: built once, and kept while there is room.

use std::sync::Arc;

use ssdl::Real;
use ssdl::graph::Connected;

/// Bytes that are kept for the next fits, of each kind.
const ROOM: usize = 2 << 30;

/// Values by keys; the oldest go where all of them are larger than the room, but never the last one.
pub(super) struct Shared<K, V> {
    /// Each with its bytes.
    kept: Vec<(K, V, usize)>,
    room: usize,
}

impl<K: PartialEq, V: Clone> Shared<K, V> {
    pub fn new() -> Self {
        Self { kept: Vec::new(), room: ROOM }
    }

    pub fn get(&self, key: &K) -> Option<V> {
        self.kept.iter().find(|(own, ..)| own == key).map(|(_, value, _)| value.clone())
    }

    pub fn keep(&mut self, key: K, value: V, bytes: usize) {
        self.kept.push((key, value, bytes));
        while self.kept.len() > 1
            && self.kept.iter().map(|(.., bytes)| bytes).sum::<usize>() > self.room
        {
            self.kept.remove(0);
        }
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.kept.len()
    }
}

/// Bytes of the sparse rows of a graph.
pub(super) fn bytes_of_graph<T: Real>(graph: &Arc<Connected<T>>) -> usize {
    let laplacian = &graph.laplacian;
    let of_factor = laplacian.factor().map(|(own, turned)| own.entries() + turned.entries());
    let of_weights = laplacian.affinities().map(ssdl::sparse::Csr::entries);
    let entries = of_factor.unwrap_or(0) + of_weights.unwrap_or(0);
    entries * (size_of::<T>() + size_of::<u32>()) + laplacian.n_samples() * 4 * size_of::<T>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_go_where_there_is_no_room_but_never_the_last() {
        let mut shared = Shared { room: 10, ..Shared::new() };
        shared.keep("a", 1, 4);
        shared.keep("b", 2, 4);
        assert_eq!((shared.get(&"a"), shared.get(&"c")), (Some(1), None));
        shared.keep("c", 3, 5);
        assert_eq!(
            (shared.get(&"a"), shared.get(&"b"), shared.get(&"c")),
            (None, Some(2), Some(3))
        );
        shared.keep("d", 4, 50);
        assert_eq!((shared.len(), shared.get(&"d")), (1, Some(4)));
    }
}
