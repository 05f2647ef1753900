import { createModuleTable } from '../node/module-table.ts';
import type { PartWorld } from '../part-world.ts';

/** Node's modules: the smaller ones, and where the others are. */
export function part(world: PartWorld): Record<string, unknown> {
  return { module: createModuleTable(world) };
}
