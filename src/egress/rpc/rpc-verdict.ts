import { EndpointUnfit, isNodeError, RpcError } from './rpc-client.ts';

/** What a failed call means. */
export interface RpcVerdict {
  /**
   * `permanent`: the call as it is will never succeed, anywhere. `state`: the present state of the chain or the pool
   * rules the call out, on every node that sees the same. `endpoint`: this endpoint will not or cannot serve the call.
   * `transport`: there was no usable answer.
   */
  meaning: 'permanent' | 'state' | 'endpoint' | 'transport';
  /**
   * What is left to try for a call without effect. `final`: another try would get the same answer. `elsewhere`: another
   * endpoint may serve. `again`: any endpoint may serve, this one too after a while.
   */
  retry: 'final' | 'elsewhere' | 'again';
  /** Whether it speaks against the endpoint. */
  countsAgainst: boolean;
  /** Whether fewer calls at once would have helped. */
  overload: boolean;
}

const PERMANENT: RpcVerdict = { meaning: 'permanent', retry: 'final', countsAgainst: false, overload: false };
const STATE: RpcVerdict = { meaning: 'state', retry: 'final', countsAgainst: false, overload: false };
/** The endpoint lacks what is asked for; others may have it. */
const LACKS: RpcVerdict = { meaning: 'endpoint', retry: 'elsewhere', countsAgainst: false, overload: false };
/** The endpoint refuses us: key, plan, quota, address. */
const REFUSES: RpcVerdict = { meaning: 'endpoint', retry: 'elsewhere', countsAgainst: true, overload: false };
const TROUBLED: RpcVerdict = { meaning: 'endpoint', retry: 'again', countsAgainst: true, overload: false };
/** The endpoint was asked too much within some time, so it is left alone for a while. */
const LIMITING: RpcVerdict = { meaning: 'endpoint', retry: 'again', countsAgainst: true, overload: true };
const OVERLOADED: RpcVerdict = { meaning: 'endpoint', retry: 'again', countsAgainst: true, overload: true };
const BROKEN: RpcVerdict = { meaning: 'transport', retry: 'again', countsAgainst: true, overload: false };
const SILENT: RpcVerdict = { meaning: 'transport', retry: 'again', countsAgainst: true, overload: true };
/** The endpoint was not asked, because it said before that it is asked too much. */
const LIMITED: RpcVerdict = { meaning: 'endpoint', retry: 'again', countsAgainst: false, overload: false };
const BLOCKED: RpcVerdict = { meaning: 'transport', retry: 'elsewhere', countsAgainst: false, overload: false };

/** Who is to blame for what a node says, and so what is left to try. */
export type RpcBlame =
  /** The request: no node ever answers it. */
  | 'request'
  /** The state of the chain or of the pool: it rules the request out now, on every node that sees the same. */
  | 'state'
  /** The endpoint: it is in trouble. */
  | 'endpoint'
  /** Nobody: the endpoint lacks what is asked for, and others may have it. */
  | 'nobody';

/** How to read the errors of one family's nodes. This comes before what every gateway says. */
export interface RpcDialect {
  /** The first text that matches counts. Texts come before codes. */
  texts: readonly (readonly [RpcBlame, RegExp])[];
  codes: ReadonlyMap<number, RpcBlame>;
}

/** For families whose nodes have no words of their own. */
export const NO_DIALECT: RpcDialect = { texts: [], codes: new Map() };

const BLAMED: Readonly<Record<RpcBlame, RpcVerdict>> = {
  request: PERMANENT,
  state: STATE,
  endpoint: TROUBLED,
  nobody: LACKS,
};

/**
 * The meaning of the gateways' own error texts. The first match counts. Texts come before codes and statuses, which
 * gateways choose freely. The corpus of the tests has the texts and where each comes from.
 */
const TEXTS: readonly (readonly [RpcVerdict, RegExp])[] = [
  [
    LACKS,
    /method .*(not (found|exist|available|supported|allowed|whitelisted)|does ?n.t exist)|(unsupported|unknown) method|not included in your current plan/i,
  ],
  [
    REFUSES,
    /monthly|capacity limit|daily (request|limit)|quota|billing|free tier|unauthori[sz]ed|be authenticated|must authenticate|not allowed to access|legacy access|(api|project|access).?(key|id|token)( is)? (not|disabled|missing|invalid|required)|invalid (api|project|access).?(key|id|token)|token is invalid|project id settings/i,
  ],
  [
    LIMITING,
    /rate.?limit|too many (requests|connections)|request rate|compute units per second|(requests?|credits) limited to|limit (was )?reached|throttl/i,
  ],
  [OVERLOADED, /over capacity|too much load|overloaded|server (is )?busy|timed? ?out|deadline exceeded/i],
  [
    TROUBLED,
    /bad gateway|service unavailable|temporarily unavailable|upstream|backend|not healthy|connection (refused|reset)/i,
  ],
];

/** Codes of JSON-RPC 2.0 section 5.1, and the codes with which gateways of all families limit requests. */
const CODES: ReadonlyMap<number, RpcVerdict> = new Map([
  [-32_700, PERMANENT],
  [-32_600, PERMANENT],
  [-32_602, PERMANENT],
  [-32_601, LACKS],
  [-32_603, TROUBLED],
  [-32_005, LIMITING],
  // Alchemy repeats the HTTP status as the code.
  [429, LIMITING],
]);

/** Judges a failed call. */
export function judgeRpcFailure(error: RpcError, dialect: RpcDialect): RpcVerdict {
  switch (error.kind) {
    case 'timeout':
      return SILENT;
    case 'transport':
      return BROKEN;
    case 'malformed':
      return judgeUnfit(error) ?? BROKEN;
    case 'blocked':
      return BLOCKED;
    case 'limited':
      return LIMITED;
    case 'http':
      return judgeStatus(error.status ?? 0) ?? LACKS;
    case 'node':
      return judgeNodeError(error, dialect);
    default:
      return error.kind satisfies never;
  }
}

/** Whether the outcome of a call counts against the endpoint that it went to. */
export function countsAgainstEndpoint(answer: PromiseSettledResult<unknown>, dialect: RpcDialect): boolean {
  if (answer.status === 'fulfilled' || !(answer.reason instanceof RpcError)) return false;
  return judgeRpcFailure(answer.reason, dialect).countsAgainst;
}

/** Whether the endpoint said that it was asked too much within some time. */
export function isRateLimitError(error: unknown, dialect: RpcDialect): error is RpcError {
  return error instanceof RpcError && judgeRpcFailure(error, dialect) === LIMITING;
}

/**
 * Whether a node answered that it cannot tell this: pruned, not there yet, or not allowed. The node is not in trouble.
 */
export function isRpcDenial(error: unknown, dialect: RpcDialect): boolean {
  if (!isNodeError(error)) return false;
  const { retry, countsAgainst } = judgeNodeError(error, dialect);
  return retry !== 'again' && !countsAgainst;
}

function judgeUnfit({ cause }: RpcError): RpcVerdict | undefined {
  if (!(cause instanceof EndpointUnfit)) return undefined;
  return cause.pauseMs > 0 ? REFUSES : LACKS;
}

/** Undefined for a status that says nothing of the endpoint. */
function judgeStatus(status: number): RpcVerdict | undefined {
  if ([401, 402, 403, 404, 410, 501, 505].includes(status)) return REFUSES;
  // nginx answers 503 to what its limits refuse (limit_req_status); 504, 522 and 524 are waits that were given up.
  if (status === 429) return LIMITING;
  if ([408, 503, 504, 522, 524, 529].includes(status)) return OVERLOADED;
  return status === 425 || status >= 500 ? TROUBLED : undefined;
}

function judgeNodeError({ code = 0, message, status = 200 }: RpcError, { texts, codes }: RpcDialect): RpcVerdict {
  const familiar = texts.find(([, text]) => text.test(message))?.[0];
  if (familiar !== undefined) return BLAMED[familiar];
  const byText = TEXTS.find(([, text]) => text.test(message))?.[0];
  if (byText !== undefined) return byText;
  const blame = codes.get(code);
  const byCode = blame === undefined ? CODES.get(code) : BLAMED[blame];
  if (byCode?.countsAgainst === false) return status === 401 || status === 403 ? REFUSES : byCode;
  return judgeStatus(status) ?? byCode ?? PERMANENT;
}
