import { blockhashWorlds } from './blockhash-world.ts';
import { ledgerWorlds } from './ledger-world.ts';
import { sequenceWorlds } from './sequence-world.ts';
import type { AnyWorldKind } from './world.ts';

/** One kind for each way in which chains can be. */
export const worlds: readonly AnyWorldKind[] = [sequenceWorlds, blockhashWorlds, ledgerWorlds];
