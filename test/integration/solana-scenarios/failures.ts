import type { Failure } from '../../support/failure-list.ts';

const ONCE = 'integration/solana-scenarios/one-effect';
const NODES = 'integration/solana-scenarios/endpoints';
const MONEY = 'integration/solana-scenarios/money';
const SWAPS = 'slow/solana-scenarios/swaps';
const SENT = 'integration/solana-transactions';
const DRAIN = 'integration/solana-drain';
const OWN = 'integration/solana-own-funds';
const GASLESS = 'integration/solana-gasless';
const LIFE = 'integration/solana-relayer-life';
const POLICIES = 'integration/solana-policies';

/** Known failures of Solana relayers, by their number in the list of the reference's failures. */
export const FAILURES: Readonly<Record<string, Failure>> = {
  1: {
    what: 'a broadcast lands, its answer is lost, and the retry is told that it was processed',
    shown: { [ONCE]: 'an answer that is lost after the bytes landed changes nothing' },
  },
  2: {
    what: 'the database loses what was written after the broadcast',
    shown: { [ONCE]: 'whenever the process dies, what it signed is what its successor offers' },
  },
  3: {
    what: 'the process dies between a further broadcast and its record',
    shown: { [ONCE]: 'what died before the bytes left is signed anew once, however often the process ends' },
  },
  4: {
    what: 'the lookup of statuses fails, and that counts as absence',
    shown: { [ONCE]: 'while the history does not answer nothing is signed anew, whatever is said of the blockhash' },
  },
  5: {
    what: 'an endpoint that lags calls a blockhash dead',
    shown: {
      [NODES]: [
        'a node that lags behind proves no death, and a second one has to agree',
        'a node that denies what another shows does not permit a second payment',
        'what was seen in a block is not taken back by a node that has not come that far',
      ],
      [ONCE]: 'a node whose history was pruned proves nothing',
    },
  },
  6: {
    what: 'two preparations of one transaction run together',
    shown: { 'integration/leases-engines': 'leases that are lost all the time cost time, and no effect happens twice' },
  },
  7: {
    what: 'a job that is delivered twice loses a signature',
    shown: {
      'slow/leases-fence': 'an engine frozen before its first byte leaves pays no second time when it wakes up',
    },
  },
  8: {
    what: 'valid_until passes while the chain can still take the transaction',
    shown: {
      [ONCE]: [
        'an end by time waits for the last block that could take the transaction',
        'an end by time without a block that takes the transaction is expired, and not before',
      ],
    },
  },
  9: {
    what: 'the node is down when valid_until passes',
    shown: { [ONCE]: 'without a node no transaction ends, however long it lasts' },
  },
  10: {
    what: 'a transaction of a JSON-RPC method has no signature on record',
    shown: { [ONCE]: 'whenever the process dies, what it signed is what its successor offers' },
  },
  11: {
    what: 'a late write turns an end back',
    shown: {
      'support/store-contract/transactions':
        'no step that the state table does not have, and nothing leaves a final status',
    },
  },
  12: {
    what: 'leaders drop the transaction, and nobody offers it again',
    shown: { [SENT]: 'dropped bytes are offered again, the same' },
  },
  13: {
    what: 'the process dies before the signed bytes are offered',
    shown: { [ONCE]: 'whenever the process dies, what it signed is what its successor offers' },
  },
  14: {
    what: 'one 429 or 503 costs 90 seconds',
    shown: { [NODES]: 'a node that limits, fails or is behind once is asked again at once' },
  },
  15: {
    what: 'the blockhash lapses between preparing and sending',
    shown: { [MONEY]: 'a blockhash that lapses while the signer thinks costs nothing but time' },
  },
  16: {
    what: 'a fork drops what was in a block',
    shown: { [ONCE]: 'what a fork took back is offered again and lands once' },
  },
  17: {
    what: 'no node answers while a transaction is in a block',
    shown: { [ONCE]: 'what is in a block stays so while no node answers' },
  },
  18: {
    what: 'no node answers for minutes, and that counts as failure',
    shown: { [ONCE]: 'without a node no transaction ends, however long it lasts' },
  },
  19: {
    what: 'a failure on the chain has no reason',
    shown: { [MONEY]: 'a failure on the chain says which instruction and why, and its fee is known' },
  },
  20: {
    what: 'an end is not told, or twice',
    shown: { 'slow/webhooks-kill': 'each event arrives after the server and its receiver were killed' },
  },
  21: {
    what: 'a trial that fails is ignored',
    shown: { [SENT]: 'what would fail on the chain is refused with the program’s own words' },
  },
  22: {
    what: 'a transaction that others made moves what the relayer owns',
    shown: {
      [MONEY]: [
        'where its policies deny it, what the relayer itself would lose is refused wherever it signs',
        'programs that are called behind logs which are cut off count as forbidden',
      ],
      [DRAIN]: 'what passes the guard takes nothing but the fee, whoever signs it as well',
      [OWN]: 'where anybody else has to sign, the relayer loses only the fee, as before',
    },
  },
  23: {
    what: 'sign-transaction signs anything',
    shown: {
      [MONEY]: 'a transaction that is signed for somebody else passes the same checks',
      [DRAIN]: 'every signing path refuses every place in which a relayer could lose',
    },
  },
  24: {
    what: 'the most that a fee may be in a token is compared with nothing',
    shown: {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a title as it stands in the file.
      [POLICIES]: 'each policy holds wherever something is signed, where the fees are paid by: ${strategy}',
    },
  },
  25: {
    what: 'what was prepared without a list of tokens is refused when it is sent',
    shown: { [GASLESS]: 'a user without SOL pays in tokens for a transaction, and has it sent' },
  },
  26: {
    what: 'a fee in two parts is refused',
    shown: { [GASLESS]: 'a fee in several parts is their sum, in SOL and in tokens' },
  },
  27: {
    what: 'the price moves between the quote and the sending',
    shown: {
      [GASLESS]: 'after a price has moved, what the relayer signed keeps the old price and all else pays the new one',
    },
  },
  28: {
    what: 'prices are added in the wrong unit',
    shown: { [MONEY]: 'prices are counted in their own unit, and never beyond the cap' },
  },
  29: {
    what: 'recent prices spike, or are not told',
    shown: {
      [MONEY]: [
        'prices are counted in their own unit, and never beyond the cap',
        'a fee beyond the cap is refused with both figures',
      ],
    },
  },
  30: {
    what: 'a node in trouble counts as an account that is not there',
    shown: { [GASLESS]: 'a node that does not answer does not make an account count as missing' },
  },
  31: {
    what: 'an account that is missing counts against the endpoint',
    shown: { [NODES]: 'a client’s mistakes count against no node' },
  },
  32: {
    what: 'unknown methods and bad parameters pause every endpoint',
    shown: { [NODES]: 'a client’s mistakes count against no node' },
  },
  33: {
    what: 'a result that is no object cannot be passed on',
    shown: { [NODES]: 'a client’s mistakes count against no node' },
  },
  34: {
    what: 'failures of many calls at once are counted against the wrong endpoint',
    shown: {
      'unit/src/egress/rpc/failover-rpc-client': 'failure attributed to the right provider when many calls run at once',
    },
  },
  35: {
    what: 'a start without a node ends the process',
    shown: { [NODES]: 'an engine that starts without a node goes on when there is one' },
  },
  38: {
    what: 'a drained relayer stays enabled',
    shown: {
      'integration/relayer-health':
        'a disabled relayer is checked at the growing pace, and its way back is told once (item 76)',
      [LIFE]: 'a relayer that is drained is disabled with the reason, and goes on when it is funded',
    },
  },
  39: {
    what: 'many at once overdraw what each alone could pay',
    shown: { [MONEY]: 'many at once never take the account below its minimum' },
  },
  41: {
    what: 'the System program cannot be called in instructions',
    shown: { [MONEY]: 'the System program can be called in instructions' },
  },
  42: {
    what: 'a durable nonce is taken for a lapsed blockhash',
    shown: { [ONCE]: 'a transaction under a durable nonce waits for its nonce, not for a time' },
  },
  43: {
    what: 'an old blockhash fails what could be signed anew',
    shown: {
      [MONEY]: 'an old blockhash of a client gives way to a new one where only the relayer signs',
      [SENT]: 'once its blockhash is past, what only the relayer signs is signed anew',
    },
  },
  44: {
    what: 'an estimate for a foreign payer is of another message',
    shown: { [GASLESS]: 'a relayer that pays for all asks nobody for anything' },
  },
  45: {
    what: 'a token that takes a part of each transfer underpays',
    shown: { [GASLESS]: 'a token that takes a part of each transfer is counted by what arrives' },
  },
  46: {
    what: 'a token without an account keeps all others from being swapped',
    shown: { [SWAPS]: 'each token is swapped within its own bounds, and those without an account are passed over' },
  },
  47: {
    what: 'a swap that failed on the chain is told as done',
    shown: {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a title as it stands in the file.
      [SWAPS]: 'a swap that fails on the chain is failed, and told as failed, with ${strategy}',
    },
  },
  48: {
    what: 'half a percent of slippage is none, a market that hangs is waited for, and two swaps run at once',
    shown: {
      [SWAPS]: [
        'each token is swapped within its own bounds, and those without an account are passed over',
        'while the market does not answer a swap waits, and says so',
        'little SOL and the clock together start one swap, however many instances look',
      ],
    },
  },
  price: {
    what: 'a price that is too low for the market is never raised',
    shown: { [MONEY]: 'each attempt after one that got into no block offers a higher price' },
  },
  again: {
    what: 'bytes that a renewal signed are posted and executed again, or wait for ever',
    shown: { [MONEY]: 'what a renewal has signed and somebody posts is the transaction that it is' },
  },
  signed: {
    what: 'what is only signed takes the money of what is under way, at any price',
    shown: { [MONEY]: 'what is only signed leaves what is under way its money, and pays no price without a bound' },
  },
  swap: {
    what: 'a market takes more than what is swapped, or gives less; a swap is executed twice',
    shown: {
      [SWAPS]: [
        // biome-ignore-start lint/suspicious/noTemplateCurlyInString: titles as they stand in the file.
        'what was collected becomes SOL by the clock, with ${strategy}',
        'whenever the process dies, a swap is executed once, with ${strategy}',
        'what the market builds to take more is not signed, with ${strategy}',
        // biome-ignore-end lint/suspicious/noTemplateCurlyInString: titles as they stand in the file.
        'priority costs no more than the policies say, whatever the market asks',
        'a balance below its threshold is enough, also one that is too small for anything else',
        'a paused relayer and the strategy noop swap nothing',
      ],
    },
  },
  51: {
    what: 'a paused relayer strands what is under way',
    shown: {
      'integration/relayer-paused':
        'paused, disabled, both: what acts is refused, what reads is not, what was taken before goes on',
    },
  },
  53: {
    what: 'clocks differ',
    shown: { 'integration/engine-expiry': 'a chain on which nothing happens keeps no payment alive' },
  },
  55: {
    what: 'a node answers with nonsense',
    shown: { [NODES]: 'answers of no use are no answers' },
  },
  36: {
    what: 'a relayer that is made half-way stays behind',
    shown: {
      'unit/src/features/relayers/relayer-create': 'what it refers to has to be there',
      [LIFE]: 'a relayer that is made while no node answers is there whole, and disabled with the reason',
    },
  },
  40: {
    what: 'malformed bytes end in a panic',
    shown: {
      'unit/src/chains/solana/message': [
        'a transaction with any one byte changed is read as what it is, or malformed',
        'a part of a transaction is malformed, and so is more than one',
        'as many signatures as signers',
        'base64 has one form',
        'a transaction fits into a packet',
        'version 1 is refused by its name, however large it is',
      ],
    },
  },
  37: {
    what: 'a token without decimals is refused until the next start',
    why: 'decimals are read from the mint each time',
    shown: { [GASLESS]: 'what is enabled, and which tokens fees can be paid in' },
  },
  49: {
    what: 'what was accepted is stranded when a queue is down',
    why: 'there is no queue: what is accepted is found in the store',
    shown: { [ONCE]: 'whenever the process dies, what it signed is what its successor offers' },
  },
  50: {
    what: 'a relayer is deleted while its transactions are under way',
    shown: { 'unit/src/features/relayers/relayers': 'a relayer goes when nothing of it is under way' },
  },
  52: {
    what: 'the signer is down',
    shown: {
      'unit/src/engine/lane/sign-pending': 'a signer that is down fails nothing and takes no sequence',
    },
  },
  54: {
    what: 'hundreds are under way at a restart',
    shown: { [ONCE]: 'whenever the process dies, what it signed is what its successor offers' },
  },
  cancel: {
    what: 'a cancel that ends a transaction which lands all the same',
    shown: { [ONCE]: 'a canceled transaction is offered no more and ends when it is dead, or as it landed' },
  },
};
