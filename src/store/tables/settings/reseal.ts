import type { Kysely } from 'kysely';
import type { Log } from '../../../observability/log.ts';
import type { Tables } from '../../schema.ts';
import type { Sealer } from '../../sealing.ts';
import { resealNetworks } from './networks.ts';
import { resealNotifications } from './notifications.ts';
import { resealPluginSettings } from './plugin-settings.ts';
import { resealRpcUrls } from './relayers.ts';
import { resealSigners } from './signers.ts';

/** Seals all secrets anew that are sealed under an older key, so that the key can be retired after one start. */
export async function resealSettings(db: Kysely<Tables>, sealer: Sealer, log: Log): Promise<void> {
  for (const reseal of [resealNotifications, resealRpcUrls, resealNetworks, resealSigners, resealPluginSettings])
    await reseal(db, sealer, log);
}
