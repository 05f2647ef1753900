import type { GuestWorld } from '../guest-isolate.ts';
import { compiled, LIMITS } from '../guest-oracle.ts';
import { TOOLS, type WebApi } from './web-cases.ts';

/** The result of each case: empty if the rule holds, otherwise what is wrong. */
export type Findings = Readonly<Record<string, string>>;

/** Random bytes. Their number is prime, so that no two identifiers use the same bytes. */
const BYTES = Array.from({ length: 1009 }, (_, index) => (index * 167 + (index >> 3)) & 0xff);

const refuse = () => ({ ok: false, error: { message: 'there is no network here' } }) as const;

function source({ cases }: WebApi): string {
  const entries = Object.entries(cases).map(
    ([name, body]) =>
      `  try { await Promise.race([(async () => { ${body} })(), patience()]); found[${JSON.stringify(name)}] = ''; } catch (error) { found[${JSON.stringify(name)}] = String(error); }`,
  );
  return `${TOOLS}\nconst run = async () => {\n  const found = {};\n${entries.join('\n')}\n  return found;\n};`;
}

/** Runs the cases in a plugin in a real isolate. */
export async function tryInGuest(world: GuestWorld, api: WebApi): Promise<Findings> {
  const script = await compiled(`${source(api)}\nmodule.exports = { handler: (context) => run() };`);
  const { outcome, escapes } = world.call(script, { limits: LIMITS, randomBytes: BYTES, answer: refuse });
  if (outcome?.kind === 'returned') return JSON.parse(outcome.json) as Findings;
  throw new Error(`did not return: ${JSON.stringify(outcome)} ${escapes.join('\n')}`);
}
