import { z } from 'zod';
import type { RpcUrl } from '../../domain/relayer/relayer.ts';

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
