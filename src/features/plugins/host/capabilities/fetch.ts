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

const request = z.strictObject({
  key,
  url: z
    .string()
    .max(MAX_URL)
    .refine((text) => isFetchable(URL.parse(text)), 'not an http or https URL without credentials'),
  method: z.enum(FETCH_METHODS),
  headers: z.array(z.tuple([line, line])).max(200),
  body: z.union([z.strictObject({ text: z.string() }), z.strictObject({ base64: z.base64() })]).exactOptional(),
  redirect: z.enum(['follow', 'error', 'manual']),
});

type Params = z.output<typeof request>;

function isFetchable(url: URL | null): boolean {
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}

const isRead = ({ method }: Params) => method === 'GET' || method === 'HEAD';
const fetcher = ({ pluginId, signal, hosts }: Principal) => ({ pluginId, signal, grants: hosts });
const failure = ({ message }: { message: string }) => message;
/** To read or abort a granted fetch needs no grant of its own. */
const none = (): RequiredGrant => ({ ofFetch: true });
const never = () => false;

export const fetch = defineCapability({
  method: 'fetch',
  needs: ['fetch'],
  params: request,
  grant: ({ url, method }) => ({ url, method }),
  effect: (params) => !isRead(params),
  // Leaves out `key`: it counts the fetches of an isolate, which may have served other calls before.
  payload: ({ key: _, ...sent }) => sent,
  handle: ({ fetch: service }, params, principal) =>
    service.fetch(fetcher(principal), params.key, fetchRequest(params), principal.effect),
  failure,
});

export const fetchRead = defineCapability({
  method: 'fetch.read',
  needs: ['fetch'],
  params: ofFetch,
  grant: none,
  effect: never,
  handle: ({ fetch: service }, params, principal) => service.read(fetcher(principal), params.key),
  failure,
});

export const fetchAbort = defineCapability({
  method: 'fetch.abort',
  needs: ['fetch'],
  params: ofFetch,
  grant: none,
  effect: never,
  handle: async ({ fetch: service }, params, principal) => service.abort(fetcher(principal), params.key),
  failure,
});

function fetchRequest({ url, method, headers, body, redirect }: Params): FetchRequest {
  const bytes =
    body === undefined ? undefined : 'text' in body ? Buffer.from(body.text) : Buffer.from(body.base64, 'base64');
  return { url: new URL(url), method, headers, body: bytes, redirect };
}
