import type { Failure } from '../../support/failure-list.ts';

/** Failures around nonces that drift or leave gaps, and transactions that are stuck, lost or reported wrongly. */
export const TRANSACTION_FAILURES: Readonly<Record<string, Failure>> = {
  1: {
    what: 'the stored nonce is above the chain, with nothing in between',
    shown: {
      'integration/evm-scenarios/nonces': 'a gap below a stuck transaction is filled, and the count goes on',
    },
  },
  2: {
    what: 'a crash between nonce and record',
    shown: {
      'integration/evm-scenarios/nonces':
        'an engine that dies before anything is stored leaves its nonce to the next one',
    },
  },
  3: {
    what: 'a read of the chain lowers a healthy nonce',
    shown: {
      'integration/evm-scenarios/nonces':
        'the count cannot be read, or is behind, while a burst is signed: no nonce is given twice',
    },
  },
  4: {
    what: 'drift full of signed records that no node accepted',
    shown: {
      'integration/evm-scenarios/order': [
        'more than fit into one request that were signed and stored while no node took them go out once it does, the head first',
        'the same after a restart in the middle of the outage',
      ],
    },
  },
  5: {
    what: 'the lowest record is abandoned',
    shown: {
      'integration/evm-scenarios/order':
        'the lowest one that a node has lost is offered again, by whoever lives; those above keep their bytes',
      'unit/src/engine/scheduler': 'what is in the store is found without any hint',
    },
  },
  6: {
    what: 'a storm of resubmissions behind a gap',
    shown: {
      'integration/evm-scenarios/order':
        'what waits above a gap is neither signed anew nor offered in a storm; the gap is filled once',
    },
  },
  7: {
    what: 'nonce too high, because a burst was submitted out of order',
    shown: {
      'integration/evm-scenarios/order':
        'a strict node that gets a higher nonce first is given the lower ones, and nobody notices',
      'unit/src/engine/lane/broadcast':
        'a node that misses a lower sequence gets all lower ones first, once in a round',
    },
  },
  8: {
    what: 'a nonce consumed outside',
    shown: {
      'integration/evm-scenarios/nonces':
        'a nonce that somebody else used fails its transaction with the reason, and the followers go on',
      'unit/src/chains/evm/inclusion': 'a real node: the transaction that used it, at final depth',
    },
  },
  9: {
    what: 'a reset at start leaves the nonce',
    shown: {
      'integration/evm-scenarios/nonces':
        'on a chain that was started anew ${how} the count begins anew, and what was signed before ends',
    },
  },
  10: {
    what: 'no periodic synchronisation',
    shown: {
      'integration/evm-scenarios/nonces': 'a count that goes on while the engine runs is followed without a restart',
    },
  },
  11: {
    what: 'a restart does not help',
    shown: {
      'integration/evm-scenarios/nonces':
        'restarts with a count that is too high: chain and records decide, without help',
    },
  },
  12: {
    what: 'two repairs at the same time',
    shown: { 'integration/evm-scenarios/order': 'of two instances that see a gap one fills it, once' },
  },
  13: {
    what: 'the gap filler races a slow preparation',
    shown: {
      'integration/evm-scenarios/order':
        'a signature that takes longer than a gap is waited for: no transaction is lost, and no nonce twice',
    },
  },
  14: {
    what: 'pending with a nonce fails or is cancelled',
    shown: {
      'integration/evm-scenarios/order': [
        'a signer that is down takes no nonces: what is canceled meanwhile leaves no gap',
        'the thread with the key dies again and again: each nonce is used once, each payment made once',
      ],
      'unit/src/engine/lane/sign-pending': 'a failed signature leaves no gap: those behind it move down',
    },
  },
  15: {
    what: 'one record is prepared twice',
    shown: {
      'integration/evm-scenarios/order': 'a slow signer, many hints and a second instance: one nonce, one payment',
      'unit/src/engine/lane/sign-pending':
        'one that changed meanwhile undoes the whole commit, so that there is no gap',
    },
  },
  16: {
    what: 'a restart without memory, with transactions in the pool',
    shown: {
      'integration/evm-scenarios/nonces': 'what waits in the pool for the key of an account without history is counted',
    },
  },
  17: {
    what: 'a stale count from a node that lags',
    shown: {
      'integration/evm-scenarios/nonces': [
        'a count from long ago makes no gap of what is confirmed',
        'an endpoint that is stuck in the past for long loses no payment: it waits, and goes out when it can',
      ],
      'unit/src/chains/evm/inclusion': 'a count that says unused is that',
    },
  },
  18: {
    what: 'the cleanup of an older record of the same nonce',
    shown: {
      'integration/evm-scenarios/nonces':
        'an old record that is pruned takes nothing from a newer one of the same nonce',
    },
  },
  19: {
    what: 'very wide drift',
    shown: {
      'integration/evm-scenarios/nonces': [
        'wide drift is closed completely, down and up',
        'counts of the only endpoint that jump by 500 ${known}: payments wait, say why, and go out after it',
        'other use of the key, often, is followed on an only endpoint that keeps no states: a block shows it',
      ],
      'unit/src/engine/sequencing/sequence-planner': 'a gap has its bound',
    },
  },
  20: {
    what: 'a time-out after the node accepted',
    shown: {
      'integration/evm-scenarios/stuck':
        'an offer whose answer is lost (${lost}): the hash was stored before, and what is mined is found',
    },
  },
  21: {
    what: 'mined under an earlier hash',
    shown: {
      'integration/evm-scenarios/stuck':
        'of several versions the first is mined: told at once, with its hash and its price',
    },
  },
  22: {
    what: 'a bump that was accepted, its answer lost',
    shown: {
      'integration/evm-scenarios/stuck':
        'a dearer version that a node took without anybody hearing of it is no stranger',
      'unit/src/chains/evm/inclusion': 'any version of ours in the block is no stranger',
    },
  },
  23: {
    what: 'one receipt cannot be read',
    shown: {
      'unit/src/chains/evm/inclusion': 'a node that cannot answer one look-up is asked again, and proves nothing',
    },
  },
  24: {
    what: 'the node of the receipts lags behind that of the nonces',
    shown: {
      'unit/src/chains/evm/inclusion': 'any version of ours in the block is no stranger',
      'unit/src/chains/evm/confirm': 'a node below what another has shown is passed over, without blame',
    },
  },
  25: {
    what: 'a resubmission does not update status and data',
    shown: {
      'integration/evm-scenarios/stuck':
        'a version that is taken after others were not shows so in status, time, hash and price',
    },
  },
  26: {
    what: 'sent, already known, no time',
    shown: {
      'integration/evm-scenarios/stuck': 'a node that says that it knows the bytes has them: submitted, with the time',
    },
  },
  27: {
    what: 'an outage of the status checks',
    shown: {
      'integration/evm-scenarios/stuck':
        'ten minutes without any node, at each status: nothing is given up, each is paid once',
    },
  },
  28: {
    what: 'failures add up while it is mined',
    shown: { 'integration/evm-scenarios/stuck': 'a hundred looks that fail keep nothing from becoming confirmed' },
  },
  29: {
    what: 'a reorganisation takes the receipt',
    shown: {
      'integration/evm-scenarios/reorganisation':
        'what was mined goes back to submitted, is offered again as it was, and is confirmed',
    },
  },
  30: {
    what: 'a receipt turns over in a reorganisation',
    shown: {
      'integration/evm-scenarios/reorganisation':
        'a receipt that turns over with a reorganisation ends as the chain does: ${end}',
      'unit/src/chains/evm/confirm': 'the depth decides what is final, for reverts too',
    },
  },
  31: {
    what: 'the queue is unavailable at the request',
    why: 'There is no queue: a request is accepted by one commit, or refused.',
    shown: {
      'integration/database-trouble': 'requests are refused at once with 503, and served again when the server is back',
    },
  },
  32: {
    what: 'enqueueing fails after storing',
    why: 'There is no queue: what is stored is due, and a wake-up only saves time.',
    shown: {
      'unit/src/engine/scheduler': 'what is in the store is found without any hint',
      'unit/src/features/transactions/transactions':
        'under one name a transaction is accepted once, and answered with as it is now',
    },
  },
  33: {
    what: 'a status job is lost',
    why: 'There are no jobs: when a transaction is looked at next stands in its record.',
    shown: { 'unit/src/engine/scheduler': 'what is in the store is found without any hint' },
  },
  34: {
    what: 'several status loops for one record',
    why: 'There are no loops of records: one step of the lane looks at all that are due.',
    shown: {
      'unit/src/engine/lane/observed-transactions':
        'one question serves all transactions of a client; one of an unknown relayer waits',
      'unit/src/engine/lane/lane': 'woken while it runs it is not run twice, but looks once more at the end',
    },
  },
  35: {
    what: 'a stale worker resurrects a final record',
    shown: {
      'support/store-contract/transactions': [
        'no step that the state table does not have, and nothing leaves a final status',
        'a change needs the status that the caller saw',
      ],
      'slow/leases-fence': 'an owner that was stopped ${place} a write does not get it through after a takeover',
    },
  },
  36: {
    what: 'whole records are written at the same time',
    shown: {
      'integration/evm-scenarios/stuck':
        'a cancellation that comes while a dearer version is signed: both survive, and the last one counts',
    },
  },
  37: {
    what: 'final records stranded in an index of active ones',
    why: 'There is no such index: lists and counts are queries of the records.',
    shown: {
      'support/store-contract/transactions': ['what is open is counted by relayer and status', 'figures of a relayer'],
    },
  },
  38: {
    what: 'large numbers and empty lists are corrupted',
    shown: {
      'integration/evm-scenarios/storage':
        'figures of 256 and 128 bits, and high nonces, come back from the store digit by digit',
      'support/store-contract/transactions': 'what cannot be kept exactly is refused',
      'unit/src/domain/record': 'text sorts as the numbers do, and comes back exactly',
    },
  },
  39: {
    what: 'the back-off overflows',
    shown: {
      'unit/src/chains/evm/replace': 'patience by speed, doubled each time and never more than an hour',
      'unit/src/engine/timing': 'pauses after failures double up to the cap, however many there were',
    },
  },
  40: {
    what: 'an expiry is noticed late',
    shown: {
      'integration/evm-scenarios/stuck':
        'what expires in a silent pool is taken back at the next look, and ends as expired',
      'unit/src/engine/lane/sign-pending': 'what has expired before it was signed ends so, the others go on',
    },
  },
  41: {
    what: 'the original leaves after its expiry',
    shown: { 'integration/evm-scenarios/stuck': 'what expires while no node takes it is never offered again' },
  },
  42: {
    what: 'expired is shown as confirmed',
    shown: {
      'integration/evm-scenarios/stuck':
        'what expires in a silent pool is taken back at the next look, and ends as expired',
    },
  },
};
