import { isDeepStrictEqual } from 'node:util';
import { ERRORS } from '../../src/domain/errors.ts';
import { failureSchema, pluginFailureSchema } from '../../src/http/openapi/answers.ts';
import { type DescribedOperation, possibleErrors } from '../../src/http/operation.ts';
import { describedOperations } from '../../src/http/operation-table.ts';
import { describedBodies } from './described.ts';

/** A service's answer, and its request. */
export interface Answered {
  method: string;
  /** Without the query. */
  path: string;
  status: number;
  text: string;
}

interface Described {
  pattern: RegExp;
  operation: DescribedOperation;
}

let known: readonly Described[] | undefined;

function all(): readonly Described[] {
  known ??= Object.values(describedOperations(describedBodies())).map((operation) => ({
    pattern: new RegExp(`^${operation.path.replace(/:\w+/g, '[^/]+').replace('*', '.*')}$`),
    operation,
  }));
  return known;
}

/** Checks an answer against the description of the API. Returns what is wrong; undefined if nothing is. */
export function faultOf({ method, path, status, text }: Answered): string | undefined {
  const place = path.replace(/\/+/g, '/').replace(/(.)\/$/, '$1');
  // A path that cannot be decoded matches no described path.
  const here = isDecodable(place) ? all().filter(({ pattern }) => pattern.test(place)) : [];
  // A literal path takes precedence over a path with an id.
  const [literal] = here
    .map(({ operation }) => operation.path)
    .toSorted((one, other) => one.split(':').length - other.split(':').length);
  const described = here.find(({ operation }) => operation.method === method && operation.path === literal);
  const value = parsed(text);
  if (described === undefined) return isRefusal(value, here.length === 0 ? 404 : 405, status);
  if (described.operation.path.includes('/call')) return callFault(value, described, status);
  const { answer, otherFailures = {} } = described.operation;
  const other = otherFailures[status]?.schema;
  if (status === answer.status) {
    const isText = (answer.contentType ?? 'application/json').startsWith('text/');
    return misfit(answer.schema, isText ? text : value);
  }
  if (other !== undefined && misfit(other, value) === undefined) return undefined;
  return failureFault(value, described, status);
}

function failureFault(value: unknown, { operation }: Described, status: number): string | undefined {
  const fault = misfit(failureSchema, value);
  if (fault !== undefined) return `no envelope: ${fault}`;
  const { code } = failureSchema.parse(value);
  if (ERRORS[code].status !== status) return `${code} is no ${status}`;
  return possibleErrors(operation).includes(code) ? undefined : `${code} is not among its errors`;
}

/** A plugin may answer with anything, and its failures with any status. */
function callFault(value: unknown, described: Described, status: number): string | undefined {
  if (typeof value !== 'object' || value === null || !('success' in value && 'data' in value)) return undefined;
  if (status === 200) return misfit(described.operation.answer.schema, value);
  return 'code' in value ? failureFault(value, described, status) : misfit(pluginFailureSchema, value);
}

/** Checks the answer to a request that matches no operation. */
function isRefusal(value: unknown, due: 404 | 405, status: number): string | undefined {
  const fault = misfit(failureSchema, value);
  if (fault !== undefined) return `no envelope: ${fault}`;
  const { code } = failureSchema.parse(value);
  const expected = due === 404 ? 'ROUTE_NOT_FOUND' : 'METHOD_NOT_ALLOWED';
  const ofService = ['UNAUTHORIZED', 'TOO_MANY_REQUESTS', 'UNAVAILABLE', 'INVALID_REQUEST', 'ORIGIN_NOT_ALLOWED'];
  return [expected, ...ofService].includes(code) ? undefined : `${status} ${code}, where ${expected} is due`;
}

/** Also reports a key that the schema does not have. */
function misfit(schema: DescribedOperation['answer']['schema'], value: unknown): string | undefined {
  const result = schema.safeParse(value);
  if (!result.success) return result.error.message;
  return isDeepStrictEqual(result.data, value) ? undefined : 'it has a key that is not described';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
