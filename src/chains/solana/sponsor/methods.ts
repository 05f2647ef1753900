import { z } from 'zod';
import { AppError, invalidRequest, StoreUnavailable } from '../../../domain/errors.ts';
import { strictObjectSchema } from '../../../domain/json/issue-text.ts';
import type { Json, WireObject } from '../../../domain/json/json.ts';
import type { RpcClient } from '../../../egress/rpc/rpc-client.ts';
import type { LocalRpcMethod, LocalSendMethod, RelayerAccount, Sponsorship } from '../../chain-client.ts';
import { parseRequestForm } from '../../request-form.ts';
import { GaslessRefusal, gaslessRefusalOf, withApiErrors, withGaslessRefusals } from './errors.ts';
import type { Sponsor } from './sponsor.ts';
import { supportedTokens } from './supported.ts';

/** Features beyond sending, by the reference's names. */
const FEATURES = ['gasless'];

const FEATURES_METHOD: LocalRpcMethod = {
  kind: 'answer',
  run: async (params) => {
    readParams(noParamsSchema, params);
    return { features: FEATURES };
  },
};

/** The methods that the relayer answers itself, by name. */
export function sponsorMethods(
  sponsor: Sponsor,
  sideOf: (account: RelayerAccount) => RpcClient,
): ReadonlyMap<string, LocalRpcMethod> {
  return new Map<string, LocalRpcMethod>([
    [
      'feeEstimate',
      {
        kind: 'answer',
        run: async (params, account) => {
          const request = readParams(sponsoredSchema, params);
          return withGaslessRefusals(() => sponsor.estimate(request, account), 'estimation');
        },
      },
    ],
    [
      'prepareTransaction',
      {
        kind: 'sign',
        run: async (params, account, signer) => {
          const request = readParams(sponsoredSchema, params);
          return withGaslessRefusals(() => sponsor.prepare(request, account, signer));
        },
      },
    ],
    [
      'transferTransaction',
      {
        kind: 'sign',
        event: 'transfer_transaction',
        run: async (params, account, signer) => {
          const request = readParams(transferSchema, params);
          return withGaslessRefusals(() => sponsor.transfer(request, account, signer));
        },
      },
    ],
    [
      'signTransaction',
      {
        kind: 'sign',
        event: 'sign_transaction',
        run: async (params, account, signer) => {
          const { transaction } = readParams(signedSchema, params);
          return withGaslessRefusals(async () => ({ ...(await sponsor.sign(transaction, account, signer)) }));
        },
      },
    ],
    ['signAndSendTransaction', signingAndSending(sponsor)],
    [
      'getSupportedTokens',
      {
        kind: 'answer',
        run: async (params, account) => {
          readParams(noParamsSchema, params);
          return supportedTokens(sideOf(account), account);
        },
      },
    ],
    ['getFeaturesEnabled', FEATURES_METHOD],
    ['getSupportedFeatures', FEATURES_METHOD],
  ]);
}

function signingAndSending(sponsor: Sponsor): LocalSendMethod {
  return {
    kind: 'send',
    event: 'sign_and_send_transaction',
    body: (params) => readParams(signedSchema, params),
    check: (body, account) =>
      withGaslessRefusals(() => sponsor.assertSendable(signedSchema.parse(body).transaction, account)),
    answer: ({ id, status_reason: reason, transaction, signature }): WireObject => {
      if (signature !== undefined) return { transaction, signature, id };
      throw new GaslessRefusal('validation', typeof reason === 'string' ? reason : 'It ended before it was signed');
    },
    refusal: (error) => {
      // Whether it was sent is unknown then.
      if (error instanceof StoreUnavailable) return undefined;
      if (error.code === 'UNAVAILABLE') return new GaslessRefusal('send', error.message, error);
      return gaslessRefusalOf(error);
    },
  };
}

/** The endpoints that do the same without JSON-RPC. */
export function createSponsorship(sponsor: Sponsor, guarded: <T>(use: () => Promise<T>) => Promise<T>): Sponsorship {
  return {
    quote: async (body, account) => {
      const request = parseRequestForm(sponsoredSchema, body);
      return guarded(() => withApiErrors(() => sponsor.estimate(request, account)));
    },
    build: async (body, account, signer) => {
      const request = parseRequestForm(sponsoredSchema, body);
      return guarded(() => withApiErrors(() => sponsor.prepare(request, account, signer)));
    },
  };
}

const MAX = (1n << 64n) - 1n;

/**
 * An integer of 64 bits. The JSON reader gives integers above 2^53 as text. A text with a smaller number was a text in
 * the request, and is refused.
 */
const amount = z
  .union([z.number(), z.string()])
  .transform((value) => (isWhole(value) ? BigInt(value) : undefined))
  .refine((value) => value !== undefined && value <= MAX, 'expected an integer of 64 bits')
  .transform((value) => value ?? 0n)
  .meta({ type: 'integer', minimum: 0, description: 'Amount in the smallest unit of the token' });

function isWhole(value: number | string): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0;
  return /^\d{16,20}$/.test(value) && BigInt(value) > Number.MAX_SAFE_INTEGER;
}

const transaction = z.string().meta({ description: 'Transaction in base64' });
const token = z.string().meta({ description: 'Mint of the token; the address of the System program stands for SOL' });
const wallet = z.string().meta({ description: 'Address of the wallet, not of its token account' });

/** The parameters of the gasless methods, and the bodies of the sponsored endpoints. */
export const sponsoredSchema = strictObjectSchema({ transaction, fee_token: token });
export const transferSchema = strictObjectSchema({ amount, token, source: wallet, destination: wallet });
const signedSchema = strictObjectSchema({ transaction });
export const noParamsSchema = strictObjectSchema({});

/**
 * Reads a method's parameters.
 * @throws AppError `INVALID_REQUEST`
 */
export function readParams<S extends z.ZodType>(schema: S, params: Json): z.output<S> {
  try {
    return parseRequestForm(schema, params);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw invalidRequest(`Invalid Solana RPC request: ${error.message}`, error);
  }
}
