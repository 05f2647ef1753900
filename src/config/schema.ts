import { z } from 'zod';
import { idSchema } from '../domain/id.ts';
import { networkTypeSchema } from '../domain/network-type.ts';
import { httpUrlSchema, rpcUrlsSchema } from './rpc-urls.ts';
import { secretSchema } from './secrets.ts';

const name = z.string().min(1, 'must not be empty');

/** An entry of `relayers`; `policies` is parsed by the chain of its network type. Unknown keys are ignored. */
export const relayerEntrySchema = z.object({
  id: idSchema,
  name,
  network: name,
  network_type: networkTypeSchema,
  paused: z.boolean(),
  signer_id: name,
  policies: z.unknown().optional(),
  notification_id: name.nullish(),
  custom_rpc_urls: rpcUrlsSchema.nullish(),
});

/** An entry of `signers`; `config` is parsed by its kind. */
export const signerEntrySchema = z.strictObject({
  id: idSchema,
  type: name,
  config: z.record(z.string(), z.json()),
});

/** An entry of `notifications`. */
export const notificationEntrySchema = z.strictObject({
  id: idSchema,
  type: z.literal('webhook'),
  url: httpUrlSchema,
  signing_key: secretSchema.optional(),
});

export type NotificationEntry = z.infer<typeof notificationEntrySchema>;
