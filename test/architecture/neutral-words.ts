import type { Rule } from './rule.ts';

const WORDS = new Set(['evm', 'gas', 'gwei', 'nonce', 'nonces', 'wei']);

/** Who may say a family's words outside `src/chains`: what speaks to others in the words that these have. */
const SPEAKERS = [
  /** The API's clients read the fields of all families. */
  'src/client/',
  /** The API's description has examples, each of one family. */
  'src/http/openapi/',
  /** The path `by-nonce` and its errors have names of the reference. */
  'src/http/access/needs.ts',
  'src/http/routes/lifecycle.ts',
  'src/services/lifecycle.ts',
  'src/domain/errors.ts',
  /** The families themselves, as `network_type` names them. */
  'src/domain/network-type.ts',
  /** Coinbase's API names its accounts so. */
  'src/signers/cdp/',
  /** A chain to try plugins on, and relayers that are played, have to be of some family. */
  'src/cli/dev/dev.ts',
  'src/cli/plugin/kit.d.ts',
  'src/cli/testing/',
];

/** Above the chains nothing has the words of one family: what all have in common has a name that fits all. */
export const neutralWords: Rule = (files) =>
  files
    .filter(({ path }) => path.startsWith('src/') && !path.startsWith('src/chains/') && path.endsWith('.ts'))
    .filter(({ path }) => !SPEAKERS.some((place) => path.startsWith(place)))
    .flatMap(({ path, text }) => {
      const said = new Set(wordsOf(text).filter((word) => WORDS.has(word)));
      return said.size === 0 ? [] : [`${path} says ${[...said].join(', ')}; use a word that fits every family.`];
    });

/** Words in lower case, those inside `gasPrice`, `gas_price` and `GAS_PRICE` as well. */
function wordsOf(text: string): string[] {
  return (text.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? []).map((word) => word.toLowerCase());
}
