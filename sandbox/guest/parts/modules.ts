import { createModuleTable } from '../node/module-table.ts';
import type { PartWorld } from '../part-world.ts';

/** The table of Node's modules. It makes the smaller modules, and loads the others as parts. */
export function part(world: PartWorld): Record<string, unknown> {
  return { module: createModuleTable(world) };
}
