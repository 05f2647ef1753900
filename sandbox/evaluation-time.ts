import { FIXED_LIMITS, type Limits } from './protocol.ts';

/**
 * How long evaluating a plugin's module may take, in milliseconds of wall time: whoever gives its calls longer stretches,
 * for a large library or a slow machine, gives them to its module too.
 */
export function evaluationMs({ slice_ms: sliceMs }: Pick<Limits, 'slice_ms'>): number {
  return Math.max(FIXED_LIMITS.evaluate_ms, sliceMs);
}
