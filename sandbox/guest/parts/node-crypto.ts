import { createCryptoModule } from '../node/crypto/crypto-module.ts';
import type { PartWorld } from '../part-world.ts';

/** Node's module `crypto`. */
export function part(world: PartWorld): Record<string, unknown> {
  return { crypto: createCryptoModule(world) };
}
