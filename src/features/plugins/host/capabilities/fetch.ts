import { z } from 'zod';
import type { FetchRequest } from '../../../../egress/fetch/plugin-fetch.ts';
import { FETCH_METHODS } from '../../records/host-permission.ts';
import { defineCapability, type Principal } from './capability.ts';
import type { RequiredGrant } from './grants.ts';

/** More than any server accepts. */
const MAX_URL = 16_384;
const MAX_HEADER = 16_384;

const key = z.int().positive();
const ofFetch = z.strictObject({ key });
const line = z.string().max(MAX_HEADER);
/** Bytes in transit: as text when they are UTF-8, else as base64. */
const body = z.union([z.strictObject({ text: z.string() }), z.strictObject({ base64: z.base64() })]);

const request = z.strictObject({
  key,
  url: z
    .string()
    .max(MAX_URL)
    .refine((text) => isFetchable(URL.parse(text)), 'not an http or https URL without credentials'),
  method: z.enum(FETCH_METHODS),
  headers: z.array(z.tuple([line, line])).max(200),
  body: body.exactOptional(),
  redirect: z.enum(['follow', 'error', 'manual']),
});

/** `more`: `fetch.read` has more of the body. */
const part = z.strictObject({ body, more: z.boolean() });
const reply = z.strictObject({
  /** The URL that answered, without a fragment. */
  url: z.string(),
  redirected: z.boolean(),
  status: z.int(),
  statusText: z.string(),
  /** Lower-case names, one pair for each header line. */
  headers: z.array(z.tuple([z.string(), z.string()])),
  ...part.shape,
});

type Params = z.output<typeof request>;
type Part = z.output<typeof part>;
type Reply = z.output<typeof reply>;

function isFetchable(url: URL | null): boolean {
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}

const isRead = ({ method }: Params) => method === 'GET' || method === 'HEAD';
const fetcher = ({ pluginId, signal, hosts }: Principal) => ({ pluginId, signal, grants: hosts });
const failure = ({ message }: { message: string }) => message;
/** To read or abort a granted fetch needs no grant of its own. */
const none = (): RequiredGrant => ({ ofCall: true });
const never = () => false;

/** What `fetch` in the guest asks. */
export const fetchCapabilities = [
  defineCapability({
    method: 'fetch',
    needs: ['fetch'],
    params: request,
    result: reply,
    grant: ({ url, method }) => ({ url, method }),
    effect: (params) => !isRead(params),
    // Leaves out `key`: it only tells the answers apart from which `fetch.read` goes on.
    payload: ({ key: _, ...sent }) => sent,
    handle: ({ fetch: service }, params, principal) =>
      service.fetch(fetcher(principal), params.key, fetchRequest(params), principal.effect) as Promise<Reply>,
    failure,
  }),

  defineCapability({
    method: 'fetch.read',
    needs: ['fetch'],
    params: ofFetch,
    result: part,
    grant: none,
    effect: never,
    handle: ({ fetch: service }, params, principal) => service.read(fetcher(principal), params.key) as Promise<Part>,
    failure,
  }),

  defineCapability({
    method: 'fetch.abort',
    needs: ['fetch'],
    params: ofFetch,
    result: z.boolean(),
    grant: none,
    effect: never,
    handle: async ({ fetch: service }, params, principal) => service.abort(fetcher(principal), params.key),
    failure,
  }),
];

function fetchRequest({ url, method, headers, body, redirect }: Params): FetchRequest {
  const bytes =
    body === undefined ? undefined : 'text' in body ? Buffer.from(body.text) : Buffer.from(body.base64, 'base64');
  return { url: new URL(url), method, headers, body: bytes, redirect };
}
