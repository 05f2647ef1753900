import { createPerformanceClasses, type PerformanceWorld } from '../globals/performance.ts';
import type { PartWorld } from '../part-world.ts';

/** Times that a plugin takes. */
export function part({ dom, now, setTimer }: PartWorld): Record<string, unknown> {
  return createPerformanceClasses(dom() as unknown as PerformanceWorld, now, setTimer);
}
