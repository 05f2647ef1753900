/** Changes with what the server and the bundler's process say to each other; a process of another version is refused. */
export const BUNDLER_PROTOCOL = 1;

/** Largest bundle of a plugin, in bytes. */
export const BUNDLE_BYTES = 10 * 1_048_576;

/** Largest source map that is kept, in bytes: reading one takes a moment in which nothing else is done. */
export const MAP_BYTES = 4 * 1_048_576;

/** Most files that a bundle is made of. */
export const MOST_FILES = 10_000;

/** Most files that one message names. */
export const FILES_AT_ONCE = 100;

/** Longest path of a file, in characters: no system opens longer ones. */
export const PATH_CHARS = 4096;

/** Errors of one build that an answer shows. */
export const MOST_PROBLEMS = 5;

/** Most characters of an error: it may name what the author spells out at any length. */
export const PROBLEM_CHARS = 500;

/** Largest message between the server and the bundler's process, in bytes, without the bundle that may follow it. */
export const MESSAGE_BYTES = 2 * 1_048_576;
