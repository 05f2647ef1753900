/**
 * Modules of Node.js that the guest's world has, by their names without `node:`: the bundler has their imports lead there,
 * and the guest makes them. Every other one can only be imported by packages, and throws when it is used.
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

export type GuestModule = (typeof GUEST_MODULES)[number];
