//! The watch cache: history window, snapshots, watchers, bookmarks, list plans and the dispatch index.
