import { FIXED_LIMITS, type Limits } from './protocol.ts';

/**
 * How long evaluating a plugin's module may take, in milliseconds of wall time. A plugin whose calls may have longer
 * stretches, for a large library or a slow machine, gets the same time for its module.
 */
export function evaluationMs({ slice_ms: sliceMs }: Pick<Limits, 'slice_ms'>): number {
  return Math.max(FIXED_LIMITS.evaluate_ms, sliceMs);
}
