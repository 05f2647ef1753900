import { z } from 'zod';
import { idSchema } from '../domain/id.ts';
import { networkTypeSchema } from '../domain/network-type.ts';
import type { RpcUrl } from '../features/relayers/records/relayer.ts';
import { configurationSecretSchema } from './secrets.ts';

/** A web address. The error message does not show it, because its path often holds a key. */
export const httpUrlSchema = z.string().refine(isHttpUrl, 'must be an http or https URL');

/** An endpoint: a URL, or a URL with its weight. */
const rpcUrlSchema: z.ZodType<RpcUrl> = z
  .preprocess(
    (value) => (typeof value === 'string' ? { url: value } : value),
    z.strictObject({ url: httpUrlSchema, weight: z.int().min(0).max(100).default(100) }),
  )
  .meta({
    anyOf: [
      { type: 'string', format: 'uri' },
      {
        type: 'object',
        properties: {
          url: { type: 'string', format: 'uri', description: 'URL of the endpoint' },
          weight: {
            type: 'integer',
            minimum: 0,
            maximum: 100,
            default: 100,
            description: 'Share of the calls, relative to the other weights; 0 switches the endpoint off',
          },
        },
        required: ['url'],
        additionalProperties: false,
      },
    ],
  });

/** A list of endpoints with at least one weight above 0. */
export const rpcUrlsSchema = z
  .array(rpcUrlSchema)
  .min(1, 'must name at least one endpoint')
  .refine((urls) => urls.length === 0 || urls.some(({ weight }) => weight > 0), 'at least one weight must be above 0');

function isHttpUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:') && url.hostname !== '';
}

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
  signing_key: configurationSecretSchema
    .optional()
    .describe('Key that signs deliveries, in webhook-signature and X-Signature. Default: no signature'),
  second_signing_key: configurationSecretSchema
    .optional()
    .describe('Second key for webhook-signature, to use while receivers change keys'),
});

export type NotificationEntry = z.infer<typeof notificationEntrySchema>;
