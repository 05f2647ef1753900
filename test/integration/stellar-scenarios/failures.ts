import type { Failure } from '../../support/failure-list.ts';

const ONCE = 'integration/stellar-scenarios/one-effect';
const NODES = 'integration/stellar-scenarios/endpoints';
const MONEY = 'integration/stellar-scenarios/money';
const SWAPS = 'slow/stellar-scenarios/swaps';
const ROUTER = 'slow/stellar-scenarios/soroswap';
const SENT = 'integration/stellar-transactions';
const LANES = 'integration/stellar-lanes';
const XDR = 'integration/stellar-envelopes';
const SIGNED = 'integration/stellar-signing';
const CALLS = 'slow/stellar-calls';
const PAID = 'integration/stellar-sponsored';
const FORWARDED = 'integration/stellar-forwarding';
const FORWARD_ATTACKS = 'slow/stellar-forwarding-attacks';
const KNOWN = 'integration/stellar-relayers';
const UNIT = 'unit/src/chains/stellar';

const DIES = 'whenever the process dies, what it signed is what its successor offers';

/** Known failures of Stellar relayers, by their number in the list of the reference's failures. */
export const FAILURES: Readonly<Record<string, Failure>> = {
  1: {
    what: 'what has landed is not known, is refused as used, and is signed anew',
    shown: {
      [ONCE]: 'a node that comes back with the past signs nothing anew that has landed',
      [NODES]: 'a node that lags for long neither loses nor doubles a payment',
    },
  },
  2: {
    what: 'the process dies after a node took the bytes and before that is written',
    shown: { [ONCE]: [DIES, 'a fee bump outlives the process like what is its own'] },
  },
  3: {
    what: 'a send times out although it was accepted, and counts as failed',
    shown: { [ONCE]: 'an answer that is lost after the network has the bytes changes nothing' },
  },
  4: {
    what: 'TRY_AGAIN_LATER hides that an earlier send was accepted',
    shown: { [ONCE]: 'a node that says it has no room although it took the bytes causes no second payment' },
  },
  5: {
    what: 'it expires by our clock while the node is behind',
    shown: {
      [ONCE]: 'an end by time waits for the ledger that closes behind it',
      [NODES]: 'one node that claims the end of a time bound buries nothing',
    },
  },
  6: {
    what: 'a call that a user pays for is prepared again as something else',
    shown: { [FORWARDED]: 'what is signed anew is what the user has consented to' },
  },
  7: {
    what: 'a fee bump around a used sequence fails without a look at the chain',
    shown: {
      [XDR]: [
        'another use of the client’s sequence is the end of it',
        'what the client itself has sent is confirmed, and costs nothing',
      ],
    },
  },
  8: {
    what: 'the same bid is sent again and again under a surge',
    shown: {
      [LANES]: [
        'a surge is outbid within the cap, and one transaction lands',
        'a cap is not outbid: it waits until the surge is over',
      ],
    },
  },
  9: {
    what: 'TRY_AGAIN_LATER without an end',
    shown: { [ONCE]: 'a node that never has room keeps no attempt alive, and none lands late' },
  },
  10: {
    what: 'a sequence is burned when preparing fails behind it',
    shown: { [ONCE]: 'a signer that fails for a while takes no sequence and stalls nobody' },
  },
  11: {
    what: 'a store that was flushed begins at sequence 0',
    why: 'there is no counter: what is not in the store is asked of the chain',
    shown: { [SENT]: 'a payment is signed, sent and confirmed' },
  },
  12: {
    what: 'a node that lags hands out a used sequence',
    shown: { [KNOWN]: 'a node that lags makes no account poor, and takes no sequence back' },
  },
  13: {
    what: 'two allocations meet at a burned head',
    shown: { 'integration/leases-engines': 'leases that are lost all the time cost time, and no effect happens twice' },
  },
  14: {
    what: 'a lane is never handed on after an end',
    why: 'nobody holds a lane: what is due is read from the store',
    shown: { [SENT]: 'equal payments are as many, one ledger after the other' },
  },
  15: {
    what: 'two instances each have a lane of one account',
    shown: {
      'slow/leases-fence': 'an engine frozen before its first byte leaves pays no second time when it wakes up',
    },
  },
  16: {
    what: 'what waits for its turn expires unsent',
    shown: { [ONCE]: 'what waits long for its turn is good from when it is signed' },
  },
  17: {
    what: 'one transaction is prepared twice at once',
    shown: { 'integration/leases-engines': 'leases that are lost all the time cost time, and no effect happens twice' },
  },
  18: {
    what: 'what was accepted is stranded when a queue is down',
    why: 'there is no queue: what is accepted is found in the store',
    shown: { [ONCE]: DIES },
  },
  19: {
    what: 'a result of a newer protocol cannot be read, and counts as failure',
    shown: { [ONCE]: 'a result that cannot be read does not undo what it says' },
  },
  20: {
    what: 'no node answers for long, and that counts as failure',
    shown: { [ONCE]: 'without a node no transaction ends, however long it lasts' },
  },
  21: {
    what: 'what is archived is ignored, and a simulation that fails as well',
    shown: {
      [CALLS]: [
        'what has been archived is brought back first, by a transaction of its own',
        'a call whose ground is gone by the time costs its fee and says why',
      ],
    },
  },
  22: {
    what: 'a call lacks the consent that its own calls need',
    shown: { [CALLS]: 'what the relayer consents to is what was asked for, as far as the client says' },
  },
  23: {
    what: 'the signer is asked twice for each transaction',
    shown: { [ONCE]: 'an answer that is lost after the network has the bytes changes nothing' },
  },
  24: {
    what: 'a fee bump bids less than the network asks, or cannot be one',
    shown: { [XDR]: 'bad envelopes are refused at once, with their place' },
  },
  25: {
    what: 'a wrong passphrase makes every send fail',
    shown: {
      [KNOWN]: 'the passphrase tells the network, and a wrong one is found out before anything is signed',
    },
  },
  26: {
    what: 'an account without lumens fails all that is asked of it',
    shown: { [MONEY]: 'an account that is not there is waited for' },
  },
  27: {
    what: 'a relayer runs dry, and each request fails',
    shown: { [MONEY]: 'many at once never take the account below its minimum, and go on when there is money' },
  },
  28: {
    what: 'a node answers 500, 429 or nothing',
    shown: { [NODES]: 'a node that is ill costs nothing but time' },
  },
  29: {
    what: 'DUPLICATE counts as something else than taken',
    shown: { [NODES]: 'what is known already is taken for taken' },
  },
  30: {
    what: 'a valid_until that cannot be read never ends',
    shown: { [`${UNIT}/request`]: 'an end is a moment to come, or none' },
  },
  31: {
    what: 'a late write turns an end back',
    shown: {
      'support/store-contract/transactions':
        'no step that the state table does not have, and nothing leaves a final status',
    },
  },
  32: {
    what: 'a sequence beyond 2^53 loses digits in the store',
    shown: {
      [SENT]: 'a payment is signed, sent and confirmed',
      [`${UNIT}/view`]: 'a transaction before it is signed, on its way and in its ledger',
    },
  },
  33: {
    what: 'sign-transaction drops the signatures of others',
    shown: { [SIGNED]: 'signatures of others are kept' },
  },
  34: {
    what: 'an operation of the relayer is signed within somebody else’s transaction',
    shown: {
      [SIGNED]: [
        'nothing is signed that its policies do not allow',
        'where users pay the fees, nothing of the relayer is signed away',
      ],
      [`${UNIT}/guard/gasless`]: 'nothing acts in the relayer’s name',
      [FORWARD_ATTACKS]: 'the relayer consents to nothing but the call, whatever entries come with it',
    },
  },
  35: {
    what: 'there is no path, Horizon fails, or the price moves',
    shown: {
      [PAID]: 'a quote refuses what would be refused later',
      [`${UNIT}/sponsor/payment`]: 'it is worth the fee, less what a price may have moved',
    },
  },
  36: {
    what: 'the user’s balance drops between the quote and the sending',
    shown: { [`${UNIT}/sponsor/payment`]: 'who pays has it, and the relayer can take it' },
  },
  37: {
    what: 'two transactions of an account meet in one ledger',
    shown: { [SENT]: 'equal payments are as many, one ledger after the other' },
  },
  38: {
    what: 'a moment of an earlier version counts for a later one',
    shown: { [SENT]: 'what is lost is signed anew when its time has passed on a ledger, and not before' },
  },
  39: {
    what: 'two writers undo each other’s hash and status',
    shown: {
      'slow/leases-fence': 'an engine frozen before its first byte leaves pays no second time when it wakes up',
    },
  },
  40: {
    what: 'what was under way at a restart is found by luck',
    shown: { [ONCE]: DIES },
  },
  cancel: {
    what: 'a cancel answers well and changes nothing',
    shown: {
      [LANES]: [
        'what is canceled on its way is taken back by nothing in its place',
        'a canceled fee bump is offered no more, and ends when its time has passed',
        'nothing replaces a transaction',
      ],
    },
  },
  reset: {
    what: 'a network starts anew under its old passphrase',
    shown: { [ONCE]: 'a chain that starts anew is found out, and what was lost with it is paid once on the new one' },
  },
  swap: {
    what: 'a swap takes more than is swapped, or gives less; it is executed twice',
    shown: {
      [SWAPS]: [
        'what was collected becomes lumens by the clock',
        'whenever the process dies, a swap is executed once',
        'one that nodes have lost is made anew only when it can be in no ledger any more',
        'each asset is swapped within its own bounds, and others are passed over',
        'a low balance is enough, and one moment starts one swap, however many instances look',
        'the ledger gives no less than the slippage allows, and then the swap has failed',
        'a price service that lies leads nothing away',
        'a swap’s path may lead over another asset only if that is allowed',
        'a paused relayer starts no swap, and a policy without swaps ends the one that had begun',
      ],
      [ROUTER]: [
        'what was collected becomes lumens through the router, ${how}',
        'whenever the process dies, a swap is executed once',
        'an API that lies leads nothing away',
        'an API that tells too little costs nothing: the router’s own price holds',
        'without an API that answers, or a key that it takes, a swap waits and says so',
        'a router that asks for more than the token is given no consent',
        'a node that tells of resources beyond all bounds gets no signature',
      ],
    },
  },
  drift: {
    what: 'the sequence moves without the relayer',
    shown: {
      [LANES]: [
        'a sequence that leapt ahead is followed',
        'an account that was ended and made again goes on, with the sequences of its new life',
      ],
      [SENT]: 'somebody else’s use of the key moves the sequence on, and no txBAD_SEQ reaches the client',
    },
  },
  drain: {
    what: 'a relayer pays more than it is paid for',
    shown: {
      [PAID]: ['the relayer bids no more than it is paid for', 'what is not paid for is not sent'],
      [`${UNIT}/sponsor/forward-price`]: 'for its place no more is bid than the user pays for',
    },
  },
};
