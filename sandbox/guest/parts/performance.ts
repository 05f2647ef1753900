import { createPerformance } from '../globals/performance.ts';

/** `performance` and its class. */
export const part = createPerformance;
