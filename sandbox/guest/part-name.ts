/** The parts of the runtime that an isolate loads when its plugin first asks for one of their names. */
export type PartName =
  | 'dom'
  | 'text'
  | 'url'
  | 'web'
  | 'streams'
  | 'buffer'
  | 'subtle'
  | 'modules'
  | 'messages'
  | 'performance'
  | 'compression'
  | 'url-pattern'
  | LargeModule;

/** Parts that are one of Node's modules, or a larger piece of one. */
export type LargeModule =
  | 'encodings'
  | 'assert'
  | 'events'
  | 'inspect'
  | 'legacy-url'
  | 'node-crypto'
  | 'node-keys'
  | 'stream';
