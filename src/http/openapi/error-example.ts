import { AppError, ERRORS, type ErrorCode, type ErrorDetails } from '../../domain/errors.ts';
import { relayerDisabled } from '../../features/relayers/records/relayer.ts';
import { resourceErrors } from '../../features/resource.ts';
import { RESOURCES } from '../../features/resource-table.ts';
import type { ChainBodies } from '../operation.ts';

type Placeholder = { [C in ErrorCode]: keyof ErrorDetails<C> }[ErrorCode];

/** The example values that depend on the chain family. */
type FamilyExample = ChainBodies['example'];

/** The example values of the other placeholders in the error table. */
const VALUES: Readonly<Record<Exclude<Placeholder, keyof FamilyExample>, string>> = {
  allowed: 'GET, POST',
  asked: '2000000000000000000',
  burst: '30',
  count: '1',
  deed: 'send',
  free_from: '2026-11-22T00:00:00Z',
  id: 'sepolia-1',
  limit: '1000000000000000000',
  method: 'PUT',
  name: 'isolayer_http_requests_total',
  network: 'sepolia',
  nonce: '7',
  origin: 'https://app.example.com',
  path: '/api/v1/relayer',
  permission: 'signers:write',
  plugin: 'double',
  reason: 'missing field `value`',
  relayer: 'sepolia-1',
  relayers: 'sepolia-1',
  remaining: '500000000000000000',
  resource: 'relayers:sepolia-1',
  rule: 'max_value',
  seconds: '30',
  status: '200',
  type: 'text/plain',
  earlier: 'kv.set {"key":"a"}',
  request: '3',
  what: 'Sending transactions',
};

/** Example values for errors in which a placeholder has another meaning. */
const OTHER: Readonly<Partial<Record<ErrorCode, Partial<Record<Placeholder, string>>>>> = {
  ...Object.fromEntries(
    RESOURCES.flatMap(({ name, exampleId: id }) =>
      resourceErrors(name, 'NOT_FOUND', 'EXISTS', 'IN_USE').map((code) => [code, { id }]),
    ),
  ),
  DELIVERY_NOT_FOUND: { id: '7f1c0b6e-6a43-4b4e-9c34-0a2b7c8d9e10' },
  FETCH_FAILED: { reason: 'fetch https://api.example.com/price: no answer within 10 s' },
  LOCK_HELD_ELSEWHERE: { name: 'payouts' },
  METRIC_NOT_FOUND: { name: 'request_total' },
  PAYLOAD_TOO_LARGE: { limit: '524288' },
  PLUGIN_DISABLED: { id: 'double' },
  PLUGIN_NOT_FOUND: { id: 'double' },
  PROVIDER_FAILED: { reason: 'no endpoint answered' },
  RELAYER_LIMITED: { limit: '10' },
  SIGNER_EXISTS: { id: 'sepolia-key' },
  SIGNER_FAILED: { id: 'sepolia-key', reason: 'its key cannot be read' },
  SIGNER_IN_USE: { id: 'sepolia-key' },
  SIGNER_NOT_FOUND: { id: 'sepolia-key' },
  SIGNER_UNUSABLE: { id: 'sepolia-key', reason: 'its key cannot be read' },
  TRANSACTION_NOT_FOUND: { id: '9b1d6a0e-4c1f-4b7e-8f5a-2f6f0f6c1d11' },
  UNAVAILABLE: { reason: 'The store cannot be reached' },
};

const DISABLED = {
  type: 'BalanceCheckFailed',
  details: 'Insufficient balance: 0xaa has 0 wei, min_balance asks for 1',
  nextCheckAt: Date.UTC(2026, 10, 22),
};

/** Returns an example of an error, with its placeholders filled in. */
export function exampleOf(code: ErrorCode, family: FamilyExample): AppError {
  const values: Readonly<Record<Placeholder, string>> = { ...VALUES, ...family };
  const names = [...ERRORS[code].text.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name as Placeholder);
  const details = Object.fromEntries(names.map((name) => [name, OTHER[code]?.[name] ?? values[name]]));
  if (code === 'RELAYER_DISABLED') return relayerDisabled(DISABLED);
  const options = ERRORS[code].status === 429 ? { retryAfterSeconds: 1 } : {};
  return new AppError(code, details as ErrorDetails<ErrorCode>, options);
}

/** The text of a row, for a description of the failure. */
export function textOf(code: ErrorCode): string {
  const { text } = ERRORS[code];
  return text === '{reason}' ? 'See `error` for the reason' : text;
}
