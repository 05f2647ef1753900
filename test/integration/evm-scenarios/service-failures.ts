import type { Failure } from '../../support/failure-list.ts';

/** Failures around cancelling, replacing, prices, providers, starts and the store, and rules that must always hold. */
export const SERVICE_FAILURES: Readonly<Record<string, Failure>> = {
  43: {
    what: 'cancel is final before its NOOP is out',
    shown: {
      'integration/transaction-lifecycle': [
        'a canceled transaction stays followed until its noop is final, and its nonce is used',
        'a canceled transaction whose original is in a block ends as that did',
      ],
    },
  },
  44: {
    what: 'a cancelled transaction is listed as active',
    shown: {
      'integration/transaction-lifecycle':
        'what is being canceled is left out of the lists of running transactions, and of their counts',
    },
  },
  45: {
    what: 'cancel-all does nothing',
    shown: { 'integration/transaction-lifecycle': 'canceling all cancels each of them, and nothing is paid' },
  },
  46: {
    what: 'malformed to or data burns a nonce',
    shown: {
      'integration/transaction-intents': 'the body of a replacement is read as that of a send',
      'unit/src/chains/evm/request': 'what no node takes is refused before it has a nonce',
      'unit/src/chains/evm/prepare': 'a creation is estimated without `to`, a call with its data',
    },
  },
  47: {
    what: 'a replacement has other fees and other gas than asked',
    shown: {
      'integration/transaction-replacement': [
        'the prices of a replacement are paid as they are given, or refused',
        'a replacement by speed raises the price once',
        'the gas of a replacement that names none is estimated',
        'the price cap refuses a replacement, and what is in the pool stays and is shown',
      ],
      'integration/evm-scenarios/pricing': 'where there is no pool a replacement is asked for no higher price',
    },
  },
  48: {
    what: 'replaced, and the original is mined',
    shown: {
      'integration/transaction-replacement':
        'when the original is in a block after all, the transaction shows the original',
    },
  },
  49: {
    what: 'a legacy original on a network of EIP-1559',
    shown: {
      'integration/transaction-replacement':
        'what was priced the old way can be replaced on a network of the new way, and back',
    },
  },
  50: {
    what: "another relayer's path",
    shown: {
      'integration/transaction-intents':
        'another relayer, even of the same account, finds no transaction to change, and nothing is signed',
    },
  },
  51: {
    what: 'the body of a replacement',
    shown: { 'integration/transaction-intents': 'the body of a replacement is read as that of a send' },
  },
  52: {
    what: 'at the cap, then the market falls',
    shown: {
      'integration/evm-scenarios/pricing': [
        'what was offered at the cap and dropped by the pool waits, and resumes when the market falls',
        'policies are those of the moment in which it is signed: what they forbid by then fails without a nonce',
      ],
    },
  },
  53: {
    what: 'the cap blocks a NOOP',
    shown: {
      'integration/evm-scenarios/pricing':
        'what is canceled while the market is above the cap goes beyond it by the minimum bump only',
      'unit/src/chains/evm/replace': 'a noop takes the nonce and does nothing, beyond the cap by the minimum bump only',
    },
  },
  54: {
    what: 'no pool, and the base fee rises',
    shown: { 'integration/evm-scenarios/pricing': 'where there is no pool a rising base fee is followed' },
  },
  55: {
    what: 'the fee multiplier of fast chains overflows',
    shown: {
      'unit/src/chains/evm/fees': 'the base fee may rise for 90 seconds of full blocks, at most tenfold',
      'unit/src/chains/evm/configuration': 'what no network can have is refused',
    },
  },
  56: {
    what: "Optimism's fee for data",
    shown: { 'unit/src/chains/evm/fees': 'the data fee of an OP chain, by the oracle’s contract' },
  },
  57: {
    what: 'the tip is above the whole after capping',
    shown: {
      'integration/evm-scenarios/pricing': 'lowered to the cap, the tip is never more than the whole, in no version',
      'unit/src/chains/evm/fees': 'the cap lowers, and the tip never exceeds the whole',
    },
  },
  58: {
    what: 'the balance check forgets gas',
    shown: {
      'integration/evm-scenarios/pricing':
        'a balance that bears the value and not the gas: it waits without a nonce, until it is funded',
    },
  },
  59: {
    what: 'the methods of zkEVM nodes are missing',
    shown: {
      'unit/src/chains/evm/fees': 'a zkEVM node’s own price, or the usual one where it has none',
      'unit/src/chains/evm/prepare': 'a zkEVM node’s fee comes on top of the value',
    },
  },
  60: {
    what: 'a stale price cache, a stuck refresh',
    shown: {
      'unit/src/chains/evm/gas-market': [
        'fresh is served, stale is served and renewed, expired is waited for',
        'a stuck refresh is given up, however many callers come meanwhile',
      ],
    },
  },
  61: {
    what: 'the gas of a NOOP is too low',
    shown: { 'unit/src/chains/evm/replace': 'a noop has the gas that doing nothing takes on its chain' },
  },
  62: {
    what: 'the block gas limit is lowered',
    shown: {
      'integration/evm-scenarios/pricing':
        'a block gas limit that is lowered: refused before a nonce is used, else its nonce is taken by nothing',
    },
  },
  63: {
    what: 'a fee history with zeros and holes',
    shown: { 'unit/src/chains/evm/gas-market': 'the market by a node’s answers' },
  },
  64: {
    what: 'a wrapped nonce error pauses providers',
    shown: {
      'unit/src/egress/rpc/failover-rpc-client':
        'nonce error wrapped in -32603 or -32002: what is said of a transaction pauses no provider',
      'unit/src/chains/evm/errors': 'a nonce error wrapped in -32603 or -32002 keeps its meaning',
    },
  },
  65: {
    what: 'unknown transaction taken for known',
    shown: {
      'unit/src/chains/evm/errors': 'unknown vs known transaction text: only one of them says that the pool has it',
    },
  },
  66: {
    what: 'errors that could be retried are hidden',
    shown: {
      'unit/src/egress/rpc/failover-rpc-client': [
        '429, 502, resets and the like move a read to the next endpoint at once, with one try each',
        'silence costs one time limit, then the next endpoint answers',
      ],
    },
  },
  67: {
    what: 'all providers are paused',
    shown: {
      'unit/src/egress/rpc/failover-rpc-client':
        'all providers paused: there is still something to try, and they recover by themselves',
      'integration/relayer-health': 'all endpoints that were paused are tried all the same, and serve again (item 67)',
    },
  },
  68: {
    what: 'best-effort tracing pauses a provider',
    shown: {
      'unit/src/egress/rpc/failover-rpc-client': 'best-effort tracing pauses no provider, whatever comes of it',
      'unit/src/chains/evm/inclusion': 'a node that cannot tell leaves the fixed text byte for byte, and is not blamed',
    },
  },
  69: {
    what: 'file descriptors grow',
    shown: {
      'unit/src/egress/rpc/endpoint-line':
        'file descriptor growth: ten thousand calls keep to a few connections, with batches and without',
    },
  },
  70: {
    what: 'requests to addresses inside',
    shown: {
      'unit/src/egress/rpc/failover-rpc-client': [
        'SSRF via redirect: an endpoint cannot send us elsewhere',
        'a blocked address is refused on every path, and closing ends the wait between tries',
      ],
      'unit/src/egress/address-guard':
        'metadata services, link-local and unspecified addresses are refused under every policy',
      'unit/src/features/relayers/relayer-update': 'a refused body changes nothing and names the place',
    },
  },
  71: {
    what: 'retries of 1 switch failover off',
    shown: { 'unit/src/egress/rpc/failover-rpc-client': 'retries set to 1 or 0 do not disable failover' },
  },
  72: {
    what: 'a failure is put down to the wrong provider',
    shown: {
      'unit/src/egress/rpc/failover-rpc-client': 'failure attributed to the right provider when many calls run at once',
    },
  },
  73: {
    what: 'a wrong chain behind the URL',
    shown: { 'integration/relayer-health': 'a wrong chain behind the URL is never enabled (item 73)' },
  },
  74: {
    what: 'a restart with what was stored',
    shown: {
      'integration/relayer-health': 'a relayer that was disabled when all ended is enabled by the next start (item 74)',
    },
  },
  75: {
    what: 'several instances start together',
    shown: {
      'slow/relayer-health-instances':
        'instances that start together tell once what they find, also when one of them dies (item 75)',
    },
  },
  76: {
    what: 'a relayer recovers while all runs',
    shown: {
      'integration/relayer-health':
        'a disabled relayer is checked at the growing pace, and its way back is told once (item 76)',
    },
  },
  77: {
    what: 'the data of jobs grow',
    why: 'There are no jobs, and so no data of jobs.',
    shown: {
      'integration/evm-scenarios/storage':
        'what is looked at and offered again and again keeps the records that it had',
    },
  },
  78: {
    what: 'cleanups overlap, or are too much',
    shown: {
      'integration/evm-scenarios/storage':
        'hundreds of old records go in batches, by one of two instances at a time, beside work',
      'support/store-contract/pruning': 'in batches',
    },
  },
  79: {
    what: 'the store becomes read-only, or another',
    shown: {
      'integration/evm-scenarios/storage':
        'a database that becomes read-only, and one that dies and comes back, cost time and nothing else',
    },
  },
  80: {
    what: 'endless work for a record that is gone',
    shown: {
      'integration/evm-scenarios/storage': 'a record that vanishes ends its work at once, and holds up nobody',
      'unit/src/engine/lane/intents': 'an intent of a transaction that is gone is refused',
    },
  },
  81: {
    what: 'jobs are dropped under rate limits',
    shown: {
      'integration/evm-scenarios/storage':
        'a burst through an endpoint that turns requests away a third of the time: none is lost',
    },
  },
  82: {
    what: 'the start of an instance runs live work again',
    shown: {
      'integration/evm-scenarios/order': 'a slow signer, many hints and a second instance: one nonce, one payment',
      'slow/leases-instances': 'three that start together on an empty database share one relayer',
    },
  },
  83: {
    what: 'recovery and low s of signatures',
    shown: {
      'unit/src/chains/evm/signing': 's is low, and v of both kinds leads back to the account',
      'unit/src/signers/held-key': 'ethers agrees with every signature',
    },
  },
  84: {
    what: 'the digest of typed data',
    shown: {
      'unit/src/chains/evm/signing': [
        'the example of EIP-712, with and without 0x, and as a whole',
        'digests that are none, in the reference’s words',
      ],
    },
  },
  85: {
    what: 'inheritance of networks',
    shown: {
      'unit/src/settings/networks': [
        'circles and strangers are problems',
        'the child wins, lists of endpoints replace, tags and features unite',
      ],
    },
  },
  'first invariant': {
    what: 'each request executes at most once, each nonce is used by one',
    shown: { 'integration/engine-one-effect': '${kind.name}: one effect, nothing lost, true ends' },
  },
  'second invariant': {
    what: 'a final status agrees with the receipt of its hash',
    shown: {
      'integration/engine-one-effect': '${kind.name}: one effect, nothing lost, true ends',
      'integration/soak-verdict': 'states that the chain contradicts',
    },
  },
};
