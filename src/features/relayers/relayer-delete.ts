import { AppError } from '../../domain/errors.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Store } from '../../store/store.ts';
import type { Caller } from '../api-keys/records/caller.ts';
import { changeSettingsOnce } from '../resource.ts';
import type { RelayerDirectory } from './relayer-access.ts';
import { relayerAudit } from './relayer-form.ts';

export interface RelayerDeleteDeps {
  store: Store;
  relayers: RelayerDirectory;
  engine: Pick<Engine, 'recheck'>;
}

/**
 * Deletes a relayer. It must have no transaction under way, because a transaction can drop out of its block and would
 * have to be sent again. Ended transactions are kept as long as any others.
 */
export function createRelayerDelete({
  store,
  relayers,
  engine,
}: RelayerDeleteDeps): (relayerId: string, by: Caller) => Promise<void> {
  return async (relayerId, by) => {
    await changeSettingsOnce(store, by, async (writer) => {
      const relayer = await writer.relayer(relayerId);
      if (relayer === undefined) throw new AppError('RELAYER_NOT_FOUND', { id: relayerId });
      const open = (await writer.openCounts()).filter((counted) => counted.relayerId === relayerId);
      const count = open.reduce((sum, counted) => sum + counted.count, 0);
      if (count > 0) throw new AppError('RELAYER_BUSY', { id: relayerId, count: String(count) });
      await writer.deleteRelayer(relayerId);
      const views = { before: relayers.viewOf(relayer), after: null };
      return { outcome: null, audit: relayerAudit('delete', relayerId, views) };
    });
    // The recheck shows watchers that the relayer is gone.
    engine.recheck(relayerId);
  };
}
