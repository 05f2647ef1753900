import { createStreamClasses } from '../globals/streams.ts';

/** The classes of the Streams Standard, with what the other parts do with them. */
export const part = createStreamClasses;
