import type { ChainDescription } from '../chain.ts';
import { signOnlyRequestSchema } from './form/sign-only.ts';
import { typedDataSchema } from './form/typed-data.ts';
import { sendRequestSchema } from './request.ts';
import { signedAnswers, transactionAnswer } from './view.ts';

const TO = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8';

/** What the description of the API says of EVM networks. */
export const apiDescription: ChainDescription = {
  name: 'Evm',
  refusals: { sponsorship: 'Gas abstraction not supported for EVM relayers' },
  policies: { gas_price_cap: 100_000_000_000 },
  request: { schema: sendRequestSchema, example: { to: TO, value: 1, speed: 'fast' } },
  transaction: transactionAnswer.schema,
  signing: {
    message: {
      text:
        'EVM: signs the UTF-8 bytes of the text as a personal message (EIP-191). A text that begins with `0x` is not ' +
        'decoded. v is 27 or 28.',
      answer: signedAnswers.signature,
    },
    typedData: {
      schema: typedDataSchema,
      example: { domain_separator: `0x${'11'.repeat(32)}`, hash_struct_message: `0x${'22'.repeat(32)}` },
      text:
        'EVM: signs EIP-712 data. The body has the domain separator and the hash of the message, or the whole data ' +
        'in the form of `eth_signTypedData_v4`. v is 27 or 28.',
      answer: signedAnswers.signature,
    },
    transaction: {
      schema: signOnlyRequestSchema,
      example: { to: TO, value: 1, nonce: 0, gas_limit: 21_000, gas_price: 1 },
      text:
        'EVM: takes the body of a send request with `nonce`, `gas_limit` and a price: `gas_price`, or ' +
        '`max_fee_per_gas` and `max_priority_fee_per_gas`. `speed` is refused, because no node is asked. The ' +
        'policies `whitelist_receivers` and `gas_price_cap` apply as for sending; `min_balance` is not checked. The ' +
        'relayer neither sends nor stores the transaction. A `nonce` that the relayer itself has used or will use is ' +
        'the risk of the caller, because only one of the two transactions can be mined.',
      answer: signedAnswers.transaction,
    },
  },
};
