import { z } from 'zod';
import { idSchema } from '../domain/id.ts';
import { networkTypeSchema } from '../domain/network-type.ts';
import { httpUrlSchema, rpcUrlsSchema } from './networks/rpc-urls.ts';
import { secretSchema } from './secrets.ts';

const name = z.string().min(1, 'must not be empty');

/** An entry of `relayers`; `policies` is parsed by the chain of its network type. Unknown keys are ignored. */
export const relayerEntrySchema = z.object({
  id: idSchema.describe('Id of the relayer, used in API paths'),
  name: name.describe('Display name of the relayer'),
  network: name.describe('Name of a built-in network, or of one of your own'),
  network_type: networkTypeSchema.describe('Type of the network'),
  paused: z.boolean().describe('Whether the relayer refuses to send and sign'),
  signer_id: name.describe('Id of the entry of "signers" that holds the key'),
  policies: z.unknown().optional().describe('What the relayer may do and pay; the fields depend on the network type'),
  notification_id: name.nullish().describe('Id of the entry of "notifications" that gets the events. Default: none'),
  custom_rpc_urls: rpcUrlsSchema.nullish().describe('Endpoints to use instead of those of the network'),
});

/** An entry of `signers`; `config` is parsed by its kind. */
export const signerEntrySchema = z.strictObject({
  id: idSchema.describe('Id of the signer, which relayers name in "signer_id"'),
  type: name.describe('Kind of signer, which says where the key is'),
  config: z.record(z.string(), z.json()).describe('Settings of the signer; the fields depend on its type'),
});

/** An entry of `notifications`. */
export const notificationEntrySchema = z.strictObject({
  id: idSchema.describe('Id of the notification, which relayers name in "notification_id"'),
  type: z.literal('webhook').describe('Kind of notification; only webhook exists'),
  url: httpUrlSchema.describe('URL that receives the events'),
  signing_key: secretSchema
    .optional()
    .describe('Key that signs deliveries, in webhook-signature and X-Signature. Default: no signature'),
  second_signing_key: secretSchema
    .optional()
    .describe('Second key for webhook-signature, to use while receivers change keys'),
});

export type NotificationEntry = z.infer<typeof notificationEntrySchema>;
