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

export type GuestModule = (typeof GUEST_MODULES)[number];
