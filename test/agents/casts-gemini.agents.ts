// The casts that gemini has to show; what they are stands in casts-of.ts.
import { castsOf } from './casts-of.ts';

castsOf('gemini');
