/** The parts of the runtime that an isolate loads when its plugin first asks for one of their names. */
export type PartName = 'dom' | 'text' | 'url' | 'web' | 'streams' | 'buffer' | 'subtle';
