import { z } from 'zod';
import type { Anchor } from '../../domain/transaction/anchor.ts';
import { sequenceText, sequenceTextSchema } from './sequence-text.ts';

const SEQUENCE = 'sequence:';
const TEXT = 'text:';

/** Returns an anchor as column text. Conflicting anchors have equal texts. Null for an anchor of kind none. */
export function anchorText(anchor: Anchor): string | null {
  if (anchor.kind === 'sequence') return SEQUENCE + sequenceText(anchor.sequence);
  return anchor.kind === 'text' ? TEXT + anchor.text : null;
}

/** Reads the text of {@link anchorText} back into an anchor. */
export const anchorTextSchema = z
  .string()
  .nullable()
  .transform((text, context): Anchor => {
    if (text === null) return { kind: 'none' };
    if (text.startsWith(TEXT)) return { kind: 'text', text: text.slice(TEXT.length) };
    const sequence = text.startsWith(SEQUENCE) ? sequenceTextSchema.safeParse(text.slice(SEQUENCE.length)) : undefined;
    if (sequence?.success === true) return { kind: 'sequence', sequence: sequence.data };
    context.addIssue({ code: 'custom', message: 'no anchor' });
    return z.NEVER;
  });
