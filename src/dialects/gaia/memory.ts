// What an agent proposes to remember, as its report tells it. It is read where it is collected: with the knowledge of the
// workspace.
export {
  type Memorials,
  memorializeSuggestions,
  memorySuggestions,
  type Suggestion,
} from '../../kernel/knowledge/suggestion.ts';
