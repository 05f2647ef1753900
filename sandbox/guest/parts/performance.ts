import { createPerformanceClasses, type PerformanceWorld } from '../globals/performance.ts';
import type { PartWorld } from '../part-world.ts';

/** `performance` and its classes, with which a plugin measures times. */
export function part(world: PartWorld): Record<string, unknown> {
  const { dom, now, setTimer } = world;
  return createPerformanceClasses(dom() as unknown as PerformanceWorld, now, setTimer, world);
}
