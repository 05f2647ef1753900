import { z } from 'zod';
import { type Chain, isSameChain } from '../../chains/chain.ts';
import type { ChainConnections, RelayerEndpoints } from '../../chains/rpc-connections.ts';
import { invalidRequest } from '../../domain/errors.ts';
import { isMaskedUrl } from '../../domain/mask-url.ts';
import { withTimeout } from '../../domain/with-timeout.ts';
import { type AddressGuard, BlockedAddressError } from '../../egress/address-guard.ts';
import type { StoreReader } from '../../store/store.ts';
import type { RpcUrl } from '../relayers/records/relayer.ts';

const MAX_URL = 2_048;
const MAX_URLS = 64;
const WEIGHT = 'RPC URL weight must be in range 0-100';

/** The form of a URL, for the description of the API. */
const HTTP_URL = { format: 'uri', pattern: '^[hH][tT][tT][pP][sS]?://' } as const;

const urlSchema = z
  .string()
  .max(MAX_URL, `must have at most ${MAX_URL} characters`)
  .refine(
    (text) => /^https?:\/\/[^\s\p{Cc}\p{Cs}]+$/iu.test(text) && URL.canParse(text),
    'must be an http or https URL',
  )
  .refine((text) => !isMaskedUrl(text), 'is hidden in part, as answers show it; give the whole URL')
  .meta(HTTP_URL);

const rpcUrlSchema = z.strictObject({ url: urlSchema, weight: z.int().min(0, WEIGHT).max(100, WEIGHT).default(100) });

/** The endpoints in the body of a relayer. */
export const relayerUrlsSchema = listOf(rpcUrlSchema).refine(
  (urls) => urls.length === 0 || hasOneSwitchedOn(urls),
  'at least one weight must be above 0',
);

/** The endpoints in the body of a network. A bare URL is also allowed. */
export const networkUrlsSchema = listOf(
  z
    .preprocess((value) => (typeof value === 'string' ? { url: value } : value), rpcUrlSchema)
    .meta({
      anyOf: [
        { type: 'string', ...HTTP_URL, maxLength: MAX_URL },
        {
          type: 'object',
          properties: {
            url: { type: 'string', ...HTTP_URL, maxLength: MAX_URL },
            weight: { type: 'integer', minimum: 0, maximum: 100, default: 100 },
          },
          required: ['url'],
          additionalProperties: false,
        },
      ],
    }),
)
  .refine((urls) => urls.length > 0, 'rpc_urls must contain at least one RPC endpoint')
  .meta({ minItems: 1 })
  .refine((urls) => urls.length === 0 || hasOneSwitchedOn(urls), 'at least one weight must be above 0');

/** Checks the length before the entries, because a body can hold a million entries. */
function listOf<S extends z.ZodType<RpcUrl>>(entry: S) {
  return z.array(z.unknown()).max(MAX_URLS, `must have at most ${MAX_URLS} entries`).pipe(z.array(entry));
}

function hasOneSwitchedOn(urls: readonly RpcUrl[]): boolean {
  return urls.some(({ weight }) => weight > 0);
}

/**
 * Refuses endpoints that the guard blocks.
 * @param field the field of the body
 * @throws AppError `INVALID_REQUEST`
 */
export function checkRpcAddresses(
  urls: readonly RpcUrl[],
  guard: Pick<AddressGuard, 'checkUrl'>,
  field: 'custom_rpc_urls' | 'rpc_urls',
): void {
  for (const [index, { url }] of urls.entries()) {
    try {
      guard.checkUrl(new URL(url));
    } catch (error) {
      if (!(error instanceof BlockedAddressError)) throw error;
      throw invalidRequest(`${field}.${index}.url: Invalid RPC URL: ${error.message}`, error);
    }
  }
}

export interface OtherChainDeps {
  read: Pick<StoreReader, 'chainIdentity'>;
  connections: Pick<ChainConnections, 'clientOf'>;
}

/** How long endpoints may take to say which chain they serve. */
const IDENTITY_MS = 3_000;

/**
 * Refuses endpoints that serve another chain than the network's known one, because transactions would be signed for
 * that chain. Accepts endpoints that do not answer now. The next check then disables their relayers until they answer.
 * @param field the field of the body
 * @throws AppError `INVALID_REQUEST`
 */
export async function refuseOtherChain(
  { read, connections }: OtherChainDeps,
  chain: Pick<Chain, 'restartable'>,
  served: RelayerEndpoints,
  field: 'custom_rpc_urls' | 'rpc_urls',
): Promise<void> {
  const { networkType, network } = served;
  const pinned = await read.chainIdentity(networkType, network);
  if (pinned === undefined) return;
  const told: string[] = [];
  const asked = async () => {
    await connections.clientOf(served).identity(pinned, (_, identity) => told.push(identity));
  };
  await withTimeout(
    IDENTITY_MS,
    asked().catch(() => {}),
  );
  const other = told.find((identity) => !isSameChain(chain, identity, pinned));
  if (other === undefined) return;
  throw invalidRequest(`${field}: the endpoints serve chain ${other}, but network ${network} is chain ${pinned}`);
}
