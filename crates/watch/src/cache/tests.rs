mod bookmarks;
mod events;
mod model;
mod start;
mod states;
