import { z } from 'zod';
import { idSchema } from '../domain/id.ts';
import { networkTypeSchema } from '../domain/network-type.ts';
import { httpUrlSchema, rpcUrlsSchema } from './networks/rpc-urls.ts';
import { secretSchema } from './secrets.ts';

const name = z.string().min(1, 'must not be empty');

/** An entry of `relayers`; `policies` is parsed by the chain of its network type. Unknown keys are ignored. */
export const relayerEntrySchema = z.object({
  id: idSchema.describe('In the paths of the API'),
  name: name.describe('Shown to people'),
  network: name.describe('The name of a built-in network, or of one of yours'),
  network_type: networkTypeSchema.describe('The family of the network'),
  paused: z.boolean().describe('Whether it refuses to send and sign'),
  signer_id: name.describe('The id of an entry of "signers"'),
  policies: z.unknown().optional().describe('What it may do and pay; by family'),
  notification_id: name.nullish().describe('The id of an entry of "notifications"'),
  custom_rpc_urls: rpcUrlsSchema.nullish().describe('Used instead of the endpoints of the network'),
});

/** An entry of `signers`; `config` is parsed by its kind. */
export const signerEntrySchema = z.strictObject({
  id: idSchema.describe('Named by relayers'),
  type: name.describe('Where the key is'),
  config: z.record(z.string(), z.json()).describe('By type'),
});

/** An entry of `notifications`. */
export const notificationEntrySchema = z.strictObject({
  id: idSchema.describe('Named by relayers'),
  type: z.literal('webhook').describe('The only one'),
  url: httpUrlSchema.describe('Where events are delivered to'),
  signing_key: secretSchema.optional().describe('Signs deliveries, in the header X-Signature'),
  second_signing_key: secretSchema.optional().describe('Signs beside it while receivers change to another key'),
});

export type NotificationEntry = z.infer<typeof notificationEntrySchema>;
