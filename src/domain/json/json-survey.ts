/** What a JSON text shows before it is parsed. For a text that is not JSON, the values mean little. */
export interface JsonSurvey {
  /** How deep objects and lists are nested. */
  depth: number;
  /** The number of objects, lists, texts, numbers and literals; keys do not count. */
  values: number;
  /** Whether a number may be beyond 2^53. */
  hasLongInteger: boolean;
}

const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** The number of digits of 2^53. */
const LONG_DIGITS = 16;

/**
 * Counts values and levels in the text itself, without parsing. Parsing a million values takes long, and walking them
 * takes longer. Walking a deeply nested value would exhaust the stack. Stops where a bound is exceeded.
 */
export function surveyJson(text: string, mostDepth: number, mostValues: number): JsonSurvey {
  const survey: JsonSurvey = { depth: 0, values: 0, hasLongInteger: false };
  let depth = 0;
  let digits = 0;
  let isInScalar = false;
  // A key counts as a value until its colon comes.
  for (let at = 0; at < text.length && depth <= mostDepth && survey.values <= mostValues + 1; at += 1) {
    const code = text.charCodeAt(at);
    switch (code) {
      case QUOTE:
        survey.values += 1;
        at = endOfText(text, at);
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        survey.values += 1;
        depth += 1;
        survey.depth = Math.max(survey.depth, depth);
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth -= 1;
        break;
      case COLON:
        survey.values -= 1;
        break;
      default:
        if (code === COMMA || code <= SPACE) break;
        if (!isInScalar) survey.values += 1;
        isInScalar = true;
        digits = code >= DIGIT_0 && code <= DIGIT_9 ? digits + 1 : 0;
        if (digits === LONG_DIGITS) survey.hasLongInteger = true;
        continue;
    }
    isInScalar = false;
    digits = 0;
  }
  return survey;
}

/** The position of the closing quote of the text that begins at `start`. */
function endOfText(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}
