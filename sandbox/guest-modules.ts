/**
 * Modules of Node.js that guests have, by their names without `node:`. The bundler redirects imports of them, and the
 * guest makes them. Packages may import other Node.js modules, which throw when they are used.
 */
export const GUEST_MODULES = [
  'assert',
  'assert/strict',
  'async_hooks',
  'buffer',
  'console',
  'crypto',
  'diagnostics_channel',
  'events',
  'os',
  'path',
  'path/posix',
  'perf_hooks',
  'process',
  'punycode',
  'querystring',
  'stream',
  'stream/consumers',
  'stream/promises',
  'stream/web',
  'string_decoder',
  'sys',
  'timers',
  'timers/promises',
  'tty',
  'url',
  'util',
  'util/types',
] as const;

/** The global name under which `runPlugin(main)` leaves the function of a plugin that exports none. */
export const RUN_PLUGIN = '__isolayer_run_plugin__';

/**
 * The global name of the list in which a bundle notes its namespace objects (`import * as …`). They are closed once the
 * module has run: calls share them.
 */
export const NAMESPACES = '__isolayer_namespaces__';

export type GuestModule = (typeof GUEST_MODULES)[number];
