/** Horizon's error answer (RFC 7807). */
export class Problem extends Error {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly extras: object | undefined;

  constructor([type, title, status, detail]: Kind, extras?: object) {
    super(`${type}: ${detail}`);
    this.name = 'Problem';
    this.type = type;
    this.title = title;
    this.status = status;
    this.detail = detail;
    this.extras = extras;
  }

  body(): object {
    const { title, status, detail, extras } = this;
    const type = `https://stellar.org/horizon-errors/${this.type}`;
    return { type, title, status, detail, ...(extras === undefined ? {} : { extras }) };
  }
}

type Kind = readonly [type: string, title: string, status: number, detail: string];

/** Horizon's problems, in its words. */
export const PROBLEMS = {
  notFound: [
    'not_found',
    'Resource Missing',
    404,
    'The resource at the url requested was not found.  This usually occurs for one of two reasons:  The url requested is not valid, or no data in our database could be found with the parameters provided.',
  ],
  badRequest: ['bad_request', 'Bad Request', 400, 'The request you sent was invalid in some way.'],
  notAcceptable: [
    'not_acceptable',
    'An acceptable response content-type could not be provided for this request',
    406,
    '',
  ],
  beforeHistory: [
    'before_history',
    'Data Requested Is Before Recorded History',
    410,
    "This horizon instance is configured to only track a portion of the stellar network's latest history. This request is asking for results prior to the recorded history known to this horizon instance.",
  ],
  unsupportedMediaType: [
    'unsupported_media_type',
    'Unsupported Media Type',
    415,
    'The request has an unsupported content type. Presently, the only supported content type is application/x-www-form-urlencoded.',
  ],
  stillIngesting: [
    'still_ingesting',
    'Still Ingesting',
    503,
    "Data cannot be presented because it's still being ingested. Please wait for several minutes before trying your request again.",
  ],
  serverError: [
    'server_error',
    'Internal Server Error',
    500,
    'An error occurred while processing this request.  This is usually due to a bug within the server software.  Trying this request again may succeed if the bug is transient. Otherwise, please contact the system administrator.',
  ],
  transactionMalformed: [
    'transaction_malformed',
    'Transaction Malformed',
    400,
    'Horizon could not decode the transaction envelope in this request. A transaction should be an XDR TransactionEnvelope struct encoded using base64.  The envelope read from this request is echoed in the `extras.envelope_xdr` field of this response for your convenience.',
  ],
  transactionFailed: [
    'transaction_failed',
    'Transaction Failed',
    400,
    'The transaction failed when submitted to the stellar network. The `extras.result_codes` field on this response contains further details.  Descriptions of each code can be found at: https://developers.stellar.org/api/errors/http-status-codes/horizon-specific/transaction-failed/',
  ],
  submissionTimeout: [
    'transaction_submission_timeout',
    'Transaction Submission Timeout',
    504,
    'Your transaction submission request has timed out. This does not necessarily mean the submission has failed. Before resubmitting, please use the transaction hash provided in `extras.hash` to poll the GET /transactions endpoint for sometime and check if it was included in a ledger.',
  ],
  submissionException: [
    'transaction_submission_exception',
    'Transaction Submission Exception',
    500,
    'Received exception from stellar-core.The `extras.error` field on this response contains further details.  Descriptions of each code can be found at: https://developers.stellar.org/api/errors/http-status-codes/horizon-specific/transaction-submission-async/transaction_submission_exception',
  ],
  invalidOrderBook: [
    'invalid_order_book',
    'Invalid Order Book Parameters',
    400,
    "The parameters that specify what order book to view are invalid in some way. Please ensure that your type parameters (selling_asset_type and buying_asset_type) are one the following valid values: native, credit_alphanum4, credit_alphanum12.  Also ensure that you have specified selling_asset_code and selling_asset_issuer if selling_asset_type is not 'native', as well as buying_asset_code and buying_asset_issuer if buying_asset_type is not 'native'",
  ],
} as const satisfies Record<string, Kind>;

export function invalidField(name: string, reason: string): Problem {
  return new Problem(PROBLEMS.badRequest, { invalid_field: name, reason });
}

/** A valid request whose answer is not part of this network. */
export function notHere(what: string): Problem {
  return new Problem(['not_implemented', 'Not Implemented', 501, `The Stellar network of the tests has no ${what}`]);
}
