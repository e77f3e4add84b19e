//! The reasons of all losses: a dialect takes one of this list.
//!
//! A reason that always has the same code is one constant with it. Reasons of one folder stand together, and the list of their codes is what
//! that folder may lose. The compiler warns about a reason that is unused.
//!
//! Why: docs/decisions/2026-11-22-loss-reasons-list.md.

use super::LossCode;
use super::reason::{LossCause, LossReason};

macro_rules! reasons {
    (pub { $($public:ident = $known:literal;)* } crate { $($name:ident $(: $code:ident)? = $clause:literal;)* }
     $(#[doc = $cost:literal] $list:ident { $($listed:ident $(: $known_code:ident)? = $words:literal;)* })*) => {
        /// Their numbers.
        #[expect(non_camel_case_types, reason = "each is called as its reason")]
        enum Number {
            $($public,)*
            $($name,)*
            $($($listed,)*)*
        }

        $(
            #[doc = concat!("`", $known, "`")]
            pub const $public: LossReason = LossReason::new(Number::$public as u16, $known);
        )*
        $(reason! { $name $clause $($code)? })*
        $(
            #[doc = $cost]
            pub(crate) const $list: &[LossCode] = &[$($(LossCode::$known_code,)?)*];
            $(reason! { $listed $words $($known_code)? })*
        )*

        #[cfg(test)]
        const ALL: &[LossReason] = &[$($public,)* $(LossReason::new(Number::$name as u16, $clause),)*
            $($(LossReason::new(Number::$listed as u16, $words),)*)*];
    };
}

/// A reason by itself, or with the code of what is lost.
macro_rules! reason {
    ($name:ident $clause:literal) => {
        #[doc = concat!("`", $clause, "`")]
        pub(crate) const $name: LossReason = LossReason::new(Number::$name as u16, $clause);
    };
    ($name:ident $clause:literal $code:ident) => {
        #[doc = concat!("`", $clause, "`")]
        pub(crate) const $name: LossCause = LossCause {
            code: LossCode::$code,
            reason: LossReason::new(Number::$name as u16, $clause),
        };
    };
}

reasons! {
    pub {
        // Personal data, before a dialect sees it.
        EMAIL_REPLACED = "e-mail address replaced by a pseudonym";
        PHONE_REPLACED = "telephone number replaced by a pseudonym";
        IP_REPLACED = "IP address replaced by a pseudonym";
        CARD_REPLACED = "card number replaced by a pseudonym";
        IBAN_REPLACED = "IBAN replaced by a pseudonym";
        SECRET_REPLACED = "secret replaced by a pseudonym";
        NAME_REPLACED = "name of the roster replaced by a pseudonym";
    }

    crate {
        // What any dialect may have no place for, and what every dialect does alike.
        ARGUMENTS_BECAME_AN_OBJECT: ArgsReserialised = "arguments that were text are written as an object";
        FOUR_CACHE_MARKS = "at most four cache marks";
        TEXT_LIKE_META_LINE: ReservedTextEscaped = "a text that begins with [meta] would be read as ids";
        RESULT_BEARS_THE_CALLS_ID: ToolIdRewritten = "a result bears the id of its call";
        FORMAT_HAS_NO_REASONING = "the format has no reasoning";
        FORMAT_HAS_NO_CACHE_MARKS = "the format has no cache marks";
        REFERENCE_IS_EMPTY: ReferenceUnresolved = "the reference has neither an id nor words";
        POLICY_DROPS_MEDIA: MediaDropped = "policy drops media";
        RESULT_IS_WRITTEN_AS_TEXT = "a result that is said as text names its media";
        DOCUMENT_IS_TEXT = "a document of text is said as text";
        MEDIUM_IS_NAMED = "the medium is only named in the text";
        NOBODY_REPLIED: ReferenceUnresolved = "nobody replied: the source made the reference up";
        NO_FURTHER_FIELDS_OF_A_MESSAGE: ExtraDropped = "the dialect has no place for further fields of a message";
        FOREIGN_CALL_AS_TEXT: RoleMapped = "somebody else's call is said as text";
        CALL_NAMES_NO_TOOL: ToolNameRewritten = "the call names no tool";
        CONTENT_IS_TEXT = "content is text";
        CALL_HAS_A_NAME = "a call has a name";
        MESSAGE_IS_EMPTY: EmptyDropped = "the message says nothing";
        FORMAT_HAS_NO_TOOLS = "the format has no tools";
        TEXTS_ARE_JOINED: PartFlattened = "texts are joined into one";
        MESSAGES_HAVE_NO_REASONING = "the messages have no place for reasoning";
        POLICY_DROPS_REASONING = "policy drops reasoning";
        RESULT_HAS_NO_ERROR_FLAG: ErrorFlagDropped = "a result does not say that it is a failure";
        ASSISTANT_WOULD_PRINT_PLACEHOLDERS: MediaDropped = "the assistant would learn to print what stands for media";
        POLICY_DROPS_REPLIES: ReferenceDropped = "policy drops replies";
        MESSAGE_IS_COMPRESSED: Truncated = "the message is what the model saw, compressed";
        METADATA_HAD_LEAKED: LeakedMetadataRemoved = "metadata had leaked into a bot's text";
        OTHER_SESSIONS_LIE_OUTSIDE: Truncated = "messages of other sessions lie outside the window";
        LATER_LIE_OUTSIDE: Truncated = "later messages lie outside the window";
        OLDER_LIE_OUTSIDE: Truncated = "older messages lie outside the window";
        OLDER_WERE_CUT: Truncated = "older messages were cut to fit the token budget";
        DIALECT_HAS_NO_NOTICES: NoticeDropped = "the dialect has no notices";
        POLICY_TAKES_OTHER_SYSTEM_TEXT: SystemDropped = "policy takes system text from elsewhere";
        PROMPT_TAKES_ITS_PLACE: SystemDropped = "the pipeline's prompt stands in its place";
        SYSTEM_TEXT_OF_THE_PIPELINE: SystemAdded = "the system text is the pipeline's prompt";
        NO_PLACE_FOR_A_PROMPT: SystemDropped = "the dialect has no place for the pipeline's prompt";
        SYSTEM_TEXT_FROM_THE_ROSTER: SystemAdded = "the system text is the perspective's instructions in the roster";
        ID_WAS_ANOTHERS: ToolIdRewritten = "a call has an id of its own, and this one had another's";
        CALL_HAD_NO_ID: ToolIdRewritten = "a call has an id, and this one had none";
        NO_PLACE_FOR_WEIGHTS: WeightDropped = "how much a message counts in training has no place";
        NO_PLACE_FOR_MESSAGE_IDS: MessageIdDropped = "the dialect has no place for message ids";
        NO_PLACE_FOR_TIMES: TimestampDropped = "the dialect has no place for times";
        NO_PLACE_FOR_MENTIONS: MentionDropped = "the dialect has no place for mentions";
        ANOTHER_NAME_THAN_THE_ROSTERS: NameDropped = "the message gives its sender another name than the roster";
        NO_PLACE_FOR_WHAT_A_QUOTE_QUOTES: ReferenceNested = "what a quoted message refers to in its turn has no place";
        NO_PLACE_FOR_FACTS_ABOUT_THE_CONVERSATION: MetadataDropped = "the dialect has no place for facts about the conversation";
        NO_PLACE_FOR_FACTS_ABOUT_PARTICIPANTS: ParticipantDropped = "the dialect has no place for facts about participants";

        // Turns of the vendors' families.
        ARGUMENTS_BECAME_TEXT: ArgsReserialised = "arguments that were JSON are written as text";
        INPUT_BECAME_ARGUMENTS: ArgsReserialised = "input of free text is written as arguments";
        ARGUMENTS_UNDER_A_KEY: ArgsNotObject = "arguments that are not an object stand under a key";
        NO_ARGUMENTS: ArgsMalformed = "no arguments are an empty object";
        ARGUMENTS_NOT_PORTABLE: ArgsMalformed = "arguments that not every reader takes as JSON stand under a key";
        DEFINITION_OF_NO_FUNCTION: ToolDefinitionDropped = "the definition is not that of a function";
        DEFINED_BY_THE_PIPELINE: ToolDefinitionAdded = "the pipeline's file of tools defines it";
        DEFINED_BY_ITS_CALLS: ToolDefinitionSynthesised = "the definition is inferred from the calls";
        TOOL_DEFINED_ALREADY = "a tool of that name is defined already";
        NO_FURTHER_FIELDS_OF_A_DEFINITION: ExtraDropped = "the dialect has no place for further fields of a definition";
        DESCRIPTION_IS_EMPTY: ExtraDropped = "an empty description of a tool is refused";
        TOOL_WITHOUT_PARAMETERS: EmptyFilled = "a tool without parameters takes an empty object";
        TOOL_TAKES_ONLY_AN_OBJECT: ExtraDropped = "a tool takes an object and nothing else";
        TOOL_TAKES_AN_OBJECT: EmptyFilled = "a tool takes an object";
        CONSTRAINT_BEYOND_THE_SUBSET: ExtraDropped = "the subset of JSON Schema does not know a constraint of a tool's parameters";
        ARRAY_HAS_AN_ELEMENT_TYPE: EmptyFilled = "an array of a tool's parameters says what it holds";
        NO_DEFINITIONS: ToolDefinitionDropped = "the dialect has no place for definitions of tools";
        TURNS_ARE_ONE: TurnMerged = "two turns in a row are one";
        POLICY_MERGES_TURNS: TurnMerged = "policy makes one turn of two in a row";
        USER_TURN_COMES_FIRST: EmptyFilled = "a user turn stands before the assistant's first";
        RESULT_HAS_NO_BLOCK: CacheMarkDropped = "the result has no block for the mark";
        CALL_BEARS_NO_MARK: CacheMarkDropped = "a call bears no mark";
        ID_OCCURS_EARLIER: ToolIdRewritten = "the id occurs on an earlier call";
        ID_IS_NOT_ALLOWED: ToolIdRewritten = "the id is not allowed";
        CALL_HAS_NO_ID: ToolIdRewritten = "the call has no id";
        END_IS_TRIMMED: WhitespaceTrimmed = "the last turn does not end in white space";
        RESULT_NAMES_ANOTHER_TOOL: ToolNameRewritten = "the result names another tool than its call";
        ID_WITHOUT_A_CALL: ToolIdRewritten = "the id of a result without a call is made up";
        MESSAGES_HAVE_NO_CACHE_MARKS: CacheMarkDropped = "the messages have no cache marks";
        POLICY_PUTS_NAMES_IN_FRONT = "policy puts names in front of the text";
        NO_FIELD_FOR_NAMES = "the dialect has no field for names";
        SEVERAL_OTHER_SPEAKERS = "the dialect has no field for names, and several people speak";
        ONE_OTHER_SPEAKER = "the dialect has no field for names, and one other speaks";
        OWN_TURNS_CARRY_NO_NAME: NameDropped = "the assistant's own turns carry no name";
        NAME_IS_AN_ALIAS: NameAliased = "the name is written as an alias, which the roster leads back from";
        SYSTEM_TEXT_BEARS_NO_NAME: NameDropped = "system text bears no name";
        SYSTEM_TEXT_STANDS_OUTSIDE: SystemHoisted = "system text stands outside the turns";
        LATER_SYSTEM_TEXT: SystemInlined = "system text behind the first turn has no place of its own";
        TEXT_OR_CALLS: TurnSplit = "a turn holds text or calls";
        ADDRESS_HAS_TO_BE_FETCHED: MediaNeedsFetch = "the address has to be fetched before the turn can be used";
        POLICY_DROPS_NAMES = "policy drops names";
        TEXT_BEFORE_CALLS_OF_THE_TURN: PartMoved = "text stands before the calls of its turn";
        WHITE_SPACE_IS_EMPTY: WhitespaceTrimmed = "a text of white space only counts as empty";
        NOTHING_BEFORE_THE_MARK: CacheMarkDropped = "nothing stands before the mark";
        MARKED_ALREADY: CacheMarkDropped = "what stands before the mark bears one already";
        ONLY_OWN_TURNS_HOLD_REASONING = "only the assistant's own turns hold reasoning";
        MESSAGES_HAVE_NO_NOTICES: NoticeDropped = "the messages have no notices";
        THOUGHTS_ARE_JOINED: PartFlattened = "thoughts are joined into one";
        THOUGHT_SPELLS_ITS_END: ReservedTextEscaped = "a thought does not end where it spells the tag that ends it";

        // The vendors themselves.
        PICTURE_HAS_NO_NAME_ADDRESS_NO_TYPE = "a picture has no name, and an address no type";
        ROLE_HOLDS_NO_MEDIA = "this role holds no media";
        THINKING_IS_UNSIGNED = "thinking without a signature is refused";
        FOUR_BLOCKS_BEAR_MARKS = "at most four blocks bear a cache mark";
        TOOL_NAME_OF_128 = "the name of a tool is [a-zA-Z0-9_-]{1,128}";
        PICTURE_HAS_NO_NAME = "a picture has no name";
        REASONING_IS_UNSIGNED = "reasoning without a signature is refused";
        TOOL_NAME_OF_64 = "the name of a tool is [a-zA-Z0-9_-]{1,64}";
        SOURCE_DEFINES_NO_TOOLS = "the source defines no tools";
        RESULT_IS_EMPTY = "an empty result is refused";
        TEMPLATE_HAS_NO_TOOLS = "the template has no tools";
        TURN_IS_TEXT = "a turn is text";
        POLICY_KEEPS_CONTROL_TOKENS: SpecialTokenInText = "policy keeps control tokens in chat text";
        CONTROL_TOKENS_ARE_ESCAPED: ReservedTextEscaped = "control tokens in chat text are escaped";
        MEDIA_HAVE_NO_NAME = "media have no name, and what they are is told by their type only";
        ROLE_HOLDS_TEXT_ONLY = "this role holds text only";
        THOUGHTS_ARE_UNSIGNED = "thoughts need a signature";
        FUNCTION_NAME_OF_128 = "the name of a function is [a-zA-Z0-9_-]{1,128}";
        LARGE_NUMBERS_LOSE_DIGITS = "whole numbers beyond 2^53 lose digits on the way";
        RESULT_STANDS_UNDER_A_KEY = "a result stands under a key of an object";
        PAIRED_BY_ORDER = "the profile pairs calls and results by their order";
        FUNCTION_NAME_OF_64 = "the name of a function is [a-zA-Z0-9_-]{1,64}";
        PICTURE_OR_FILE_HAS_NO_NAME = "a picture or file has no name, and an address no type";
        REASONING_NEEDS_AN_ID = "reasoning needs an id of the vendor's";
        CALLS_ARE_THE_TURNS_BEFORE: TurnMerged = "calls are items of the assistant's turn before them";
        VALUE_IS_TEXT = "a value is text";
        NOBODY_BETWEEN_RESULT_AND_ANSWER: TurnMoved = "nobody speaks between a result and the answer";
        THERE_ARE_NO_IDS: ToolIdDropped = "there are no ids";
        TEXT_FOLLOWS_THE_RESULT: PartMoved = "text beside a call follows the result";
        CALLS_FOLLOW_ONE_ANOTHER: TurnSplit = "parallel calls follow one another";
        LAST_CALLS_HOLD_NO_TEXT = "calls that end a record hold no text beside them";

        // Tzurot.
        PROXIES_ARE_NAMED: NameInlined = "this version names proxies in front of their text";

        // gryag.
        LINE_BREAK_FORGES_A_LINE: NewlineReplaced = "a line break would forge a line";
        OBJECT_LOSES_WHITE_SPACE = "an object loses the white space between its values";

        // Suna.
        MESSAGES_HAVE_NO_NAMES = "the messages have no names";
        NO_EARLIER_CALL_IS_OPEN = "no earlier call with its id is open";
        EMBEDDED_RESULT_IS_LEFT_OUT = "a user message that embeds a result is left out";
        REQUEST_HAS_FOUR_MARKS: CacheMarkCapped = "a request has at most four cache marks";
        BLOCK_HAS_NO_IDS = "the cached block has no ids";
        OLDER_TURNS_ARE_ONE_BLOCK: TurnMerged = "older turns are one cached block";
        BLOCK_HAS_ONE_MARK: CacheMarkDropped = "the cached block has one mark, at its end";
        BLOCK_HAS_NO_CALLS: ToolCallDropped = "the cached block has no calls";
        BLOCK_TRIMS_TEXTS: WhitespaceTrimmed = "texts of the cached block have no white space at their ends";
        NO_TEXT_NO_LINE: EmptyDropped = "a turn without text has no line in the cached block";
        BLOCK_HAS_NO_ESCAPE: SpecialTokenInText = "a text spells the beginning of a turn, and the cached block has no escape";

        // Jaibber.
        FORMAT_HAS_NO_SYSTEM_TEXT: SystemDropped = "the format has no system text";
        MESSAGE_HAS_NO_NOTICES = "a message has no notices";
    }

    /// Losses of writing results after their calls.
    PAIRING {
        FOREIGN_RESULT_AS_TEXT: RoleMapped = "the result of somebody else's call is said as text";
        POLICY_DROPS_OPEN_CALLS: ToolCallDropped = "the call has no result, and policy drops such calls";
        CALL_HAS_NO_RESULT: MissingResultSynthesised = "the call has no result";
        TURNS_BETWEEN_CALL_AND_RESULT: ResultLateMoved = "other turns stood between the call and its result";
        RESULT_BEFORE_ITS_CALL: ResultEarlyMoved = "the result stood before its call";
        RESULTS_IN_ANOTHER_ORDER: TurnMoved = "the results stood in another order than their calls";
        SOMETHING_BETWEEN_CALL_AND_RESULT: ResultLateMoved = "something else stood between the call and its result";
        CALL_IS_ANSWERED_ALREADY: DuplicateResult = "the call is answered already";
        POLICY_DROPS_LOOSE_RESULTS: OrphanResultDropped = "the result has no call, and policy drops such results";
        RESULT_HAS_NO_CALL: OrphanResultInlined = "the result has no call";
        RESULT_STANDS_BEHIND_ITS_MESSAGE: PartMoved = "a result stands behind all else of its message";
        RESULT_OF_THE_MEDIUM_IS_LEFT_OUT: MediaDropped = "the result that the medium belongs to is left out";
        MARKED_RESULT_IS_LEFT_OUT: CacheMarkDropped = "the result that the mark stands on is left out";
    }

    /// What making turns may cost, but for words that stand for media.
    DRAFT {
        QUOTED_MESSAGE_IS_SHOWN: ReferenceShortened = "the quoted message stands in the same rendering";
        RESULT_BEARS_NO_NAME: NameDropped = "a result bears no name of a speaker";
        QUOTED_MEDIA_ARE_NOT_REPEATED: MediaDropped = "quoted media are not repeated";
        PERSPECTIVE_IS_THE_ASSISTANT: RoleMapped = "the perspective speaks as the assistant";
        ASSISTANT_WOULD_PRINT_QUOTES: ReferenceDropped = "the assistant would learn to print quotes";
        OTHERS_ARE_USERS: RoleMapped = "everybody but the perspective is a user";
    }

    /// What quoting may cost, but for words that stand for media.
    QUOTES {
        REFERRED_TO_MORE_THAN_ONCE: ReferenceDropped = "the message refers to it more than once";
        MESSAGE_REFERS_TO_ITSELF: ReferenceUnresolved = "the message refers to itself";
        REFERENCES_FORM_A_CYCLE: ReferenceUnresolved = "the references form a cycle";
        REFERENCE_IS_NOT_THERE: ReferenceUnresolved = "what it refers to is not there";
        REFERENCE_HAS_NO_WORDS: ReferenceUnresolved = "what it refers to has no words";
        REPLY_IS_QUOTED: ReferenceInlined = "the reply is quoted in the text";
        QUOTED_MEDIUM_IS_NAMED = "a quoted medium is only named in the text";
        MARKER_IS_TAKEN_OUT: MediaDropped = "this version takes the marker of a picture out and does not carry it";
        ONE_MEDIUM_PER_QUOTE: MediaDropped = "one medium survives per quote, and sound wins";
        WORD_FOR_MEDIA: EmptyFilled = "a word stands where the quote had media only";
        QUOTED_NAMES_HOLD_NO_CONTROLS: ControlCharacterRemoved = "names of those who are quoted hold no control characters";
        QUOTES_HOLD_NO_CONTROLS: ControlCharacterRemoved = "quotes hold no control characters";
        QUOTES_ARE_TRIMMED: WhitespaceTrimmed = "quotes lose the white space at their ends";
    }

    /// What a request to Tzurot may cost for the format's sake.
    TZUROT {
        REQUEST_IS_ONE_MESSAGE: Truncated = "a request is one message, without the others";
        REQUEST_HAS_NO_SYSTEM_TEXT: SystemDropped = "a request has no system text";
        FORMAT_HAS_NO_NOTICES = "the format has no notices";
        MEDIUM_IS_ITS_ADDRESS: MediaDescriptionDropped = "a medium is its address only";
        TEXT_IN_FRONT_OF_MEDIA: PartMoved = "the text stands in front of media";
        JOINED_INTO_THE_FIRST: PartFlattened = "texts are joined into the first element";
        REQUEST_IS_A_USERS: RoleMapped = "every request is a user's";
        REQUEST_NAMES_NO_USER: NameDropped = "a request does not name its user";
        MESSAGE_IS_WORDED_AS_A_QUOTE: SpecialTokenInText = "the message itself is worded as a quote, and the format cannot tell them apart";
        FORMAT_REMOVES_CONTROLS: ControlCharacterRemoved = "the format removes control characters";
    }

    /// What gryag's transcript may cost in every edition.
    GRYAG_COMPACT {
        NAMES_LOSE_OWN_SIGNS: NameCleaned = "names lose the signs that the transcript reads as its own";
        TRANSCRIPT_HAS_NO_TOOLS = "the transcript has no tools";
        TRANSCRIPT_HAS_NO_SYSTEM_TEXT: SystemDropped = "the transcript has no system text";
        NO_LINE_NO_REPLY: ReferenceDropped = "a message without a line shows no reply";
        ONLY_THE_PERSPECTIVE_IS_THE_BOT: RoleMapped = "only the perspective is the bot";
        FILE_DATA_IS_OVERLOOKED: MediaDropped = "this version overlooks media in file_data";
        TRANSCRIPT_HAS_NO_REASONING = "the transcript has no reasoning";
        TRANSCRIPT_HAS_NO_NOTICES = "the transcript has no notices";
        TRANSCRIPT_HAS_NO_CACHE_MARKS = "the transcript has no cache marks";
        JOINED_INTO_ONE_LINE: PartFlattened = "texts are joined into one line";
        LINE_WITHOUT_CONTENT: EmptyFilled = "a line without content says so";
        TRANSCRIPT_NAMES_MEDIA: MediaPlaceholder = "the transcript only names media";
        OWN_LINES_HAVE_NO_ARROW: ReferenceDropped = "the bot's own lines have no arrow";
        CURRENT_LINE_HAS_NO_ARROW: ReferenceDropped = "the current line has no arrow";
        ONE_ARROW: ReferenceDropped = "a line has one arrow";
        NOBODY_WAS_ANSWERED: ReferenceUnresolved = "nobody is known to have been answered";
    }

    /// What gryag's pattern for Gemini may cost.
    GRYAG_GEMINI {
        MEDIUM_IS_ITS_TYPE: MediaDescriptionDropped = "a medium has no name here, and is what its type says; a linked one has none";
        ONE_REPLY_IN_A_LINE: ReferenceDropped = "a line holds one reply";
        EXCERPT_OF_200: Truncated = "an excerpt holds 200 code points";
        LONG_VALUES_ARE_CUT: Truncated = "this version cuts long values of the line";
        SIGNS_OF_THE_LINE: NameCleaned = "the line allows no square brackets, line breaks or bare quotes";
        DEFINITIONS_STAND_BESIDE: ToolDefinitionDropped = "tool definitions are sent beside the conversation";
        NO_LINE_FOR_THE_ID: MessageIdDropped = "turns of tools and system text have no line for their id";
        SYSTEM_TEXT_IS_TEXT_ONLY = "system text is text only";
        SYSTEM_TEXT_IS_EMPTY: EmptyDropped = "system text that says nothing is left out";
        SYSTEM_TEXT_IS_THE_FIRST_TURN: SystemInlined = "system text is the first user turn";
        SYSTEM_TEXT_STANDS_IN_FRONT: TurnMoved = "system text stands in front of the conversation";
        CALLS_ARE_A_TURN: TurnSplit = "calls are a turn of their own";
        TURN_WITHOUT_PARTS: EmptyDropped = "a turn without parts is refused";
        RESPONSE_BEARS_THE_CALLS_NAME: ToolNameRewritten = "a response bears the name of its call";
        TURN_OF_CALLS_ONLY = "a turn of calls is calls only";
        NO_LINE_FOR_A_REPLY: ReferenceDropped = "a turn of calls has no line for a reply";
        ONLY_THE_PERSPECTIVE_IS_THE_MODEL: RoleMapped = "only the perspective is the model";
        BOT_HAS_NO_NAME: NameDropped = "the bot's lines have no id, and it has no name";
        MEDIA_BEHIND_THE_TEXT: PartMoved = "media stand behind the text";
        PATTERN_HAS_NO_REASONING = "the pattern has no reasoning";
        PATTERN_HAS_NO_NOTICES = "the pattern has no notices";
        PATTERN_HAS_NO_CACHE_MARKS = "the pattern has no cache marks";
        PAIRED_BY_PLACE_AND_NAME: ToolIdDropped = "calls and responses are paired by place and name";
        ARGUMENTS_ARE_AN_OBJECT = "arguments are an object here";
        RESPONSE_IS_AN_OBJECT = "a response is an object";
        NO_FAILURE_IN_AN_OBJECT: ErrorFlagDropped = "an object has no place for the failure";
    }

    /// What rows of Suna may cost.
    SUNA_ROWS {
        METADATA_HOLD_NO_REASONING: ReasoningDropped = "metadata that are not an object have no place for reasoning";
        METADATA_HOLD_REASONING_ONCE: ExtraDropped = "metadata hold reasoning once";
        METADATA_HOLD_ONE_THOUGHT: PartFlattened = "metadata hold one thought";
        REASONING_STANDS_IN_FRONT: PartMoved = "reasoning stands in front of everything";
        ROW_HAS_NO_BLOCK: CacheMarkDropped = "a row of a result has no block for the mark";
        METADATA_HOLD_THE_ID: ToolIdRewritten = "the id in the metadata is the call's own";
        ROWS_NAME_MEDIA: MediaPlaceholder = "rows only name media";
        NO_TEXT_BEFORE_THE_MARK: CacheMarkDropped = "no text stands before the mark";
        TEXT_BEFORE_CALLS_OF_THE_ROW: PartMoved = "text stands before the calls of its row";
        TEXT_LIKE_CALLS: ReservedTextEscaped = "a text that spells calls as XML would be read as calls";
        EVERY_ROW_HAS_AN_ID: MessageIdSynthesised = "every row has an id";
        CONTENT_IS_WRITTEN_ANEW: ExtraDropped = "the content is written anew, without fields that are not a message's";
        ROWS_KNOW_IDS: NameDropped = "rows know people by their ids";
        ROW_NAMES_ITS_THREAD: ConversationIdSynthesised = "every row names its thread, and the conversation has no id";
        RESULT_IS_A_TOOLS_ROW: RoleMapped = "a result is a row of the tool";
        RESULT_IS_A_ROW: TurnSplit = "each result is a row of its own";
        ROWS_HAVE_NO_REPLIES: ReferenceDropped = "rows have no replies";
        ROW_OF_A_RESULT_IS_TEXT: MediaDropped = "a row of a result is text";
        ROW_IS_MESSAGE_OR_NOTICE: NoticeDropped = "a row is a message or a notice";
        STATUS_ROW_HOLDS_ONE_TEXT: NoticeDropped = "a status row holds one text";
    }

    /// What a turn of Jaibber's context may cost.
    JAIBBER_CONTEXT {
        CONTEXT_HAS_NO_REPLIES: ReferenceDropped = "the context has no replies";
        CONTEXT_HAS_NO_NAMES: NameDropped = "people have no names in the context";
        TURN_SPELLED_WITHOUT_ESCAPE: SpecialTokenInText = "a text spells the beginning of a turn, and the format has no escape";
        CONTEXT_NAMES_MEDIA: MediaPlaceholder = "the context only names media";
        JOINED_INTO_ONE_TURN: PartFlattened = "texts are joined into one turn";
    }

    /// What Jaibber's payloads may cost.
    JAIBBER_EVENTS {
        FIRST_SHOWS_ANOTHER_NAME: NameDropped = "the first of the messages shows another name than the roster";
        PAYLOAD_NAMES_ITS_PROJECT: ConversationIdSynthesised = "every payload names its project, and the conversation has no id";
        PAYLOADS_HOLD_NO_CHAT_FACTS: MetadataDropped = "payloads hold no facts about the room";
        PAYLOADS_HOLD_NO_PARTICIPANT_FACTS: ParticipantDropped = "payloads hold only account and name of those who speak";
        PAYLOADS_HAVE_NO_SECOND_NAMES: NameDropped = "payloads have no second names";
        TEXT_BEFORE_FILES: PartMoved = "text stands before files";
        PAYLOADS_HOLD_NO_BYTES: MediaDropped = "payloads hold addresses of files, not their bytes";
        FILE_IS_ITS_TYPE: MediaDescriptionDropped = "what a file is, only its MIME type says";
        PAYLOAD_NAMES_AN_ACCOUNT: SenderMissing = "a payload names an account";
        PAYLOAD_SHOWS_A_NAME: NameSynthesised = "a payload shows a name";
        PAYLOAD_HAS_AN_ID: MessageIdSynthesised = "a payload has an id";
        TYPE_OF_NO_PAYLOAD: ExtraDropped = "the type of another system is none of a payload's";
        REPLY_NAMES_NO_MESSAGE: ReferenceUnresolved = "the reply names no message";
        ONE_REPLY_IN_A_PAYLOAD: ReferenceDropped = "a payload has one reply";
        PAYLOAD_SHOWS_NO_QUOTE: ExtraDropped = "a payload does not show what it replies to";
        PAYLOADS_HAVE_NO_SUCH_FIELDS: ExtraDropped = "payloads have no place for these fields";
    }

    /// What a group chat may cost.
    GROUP_CHAT {
        FIELD_LIKE_THE_FORMATS_OWN: ExtraDropped = "the field would be read as one of the format's own";
        FORMAT_HAS_NO_MENTIONS: MentionDropped = "the format has no place for mentions";
        FORMAT_WANTS_AN_ID: MessageIdSynthesised = "the format wants an id";
        FORMAT_WANTS_A_SENDER: SenderMissing = "the format wants a sender";
        EVENT_IS_NOBODYS: RoleMapped = "an event speaks in nobody's role";
        RESULT_IS_A_TOOLS_MESSAGE: RoleMapped = "a result is a tool's message";
        TYPE_OF_ANOTHER_SYSTEM: ExtraDropped = "the type of another system is none of the format's";
        FORMAT_HAS_NO_DEFINITIONS: ToolDefinitionDropped = "the format has no tool definitions";
        FORMAT_WANTS_A_NAME: TitleSynthesised = "the format wants a name, be it the id or an empty text";
        TEXT_BEFORE_MEDIA_AND_CALLS: PartMoved = "text stands before media and calls";
        RESULT_BESIDE_THE_CALL: ToolCallDropped = "a message with a result has no calls";
        MEDIUM_BEFORE_CALLS: PartMoved = "the medium stands before calls";
        EVENTS_ARE_TEXT_ONLY = "events and system text are text only";
        ONE_MEDIUM: MediaDropped = "a message has one medium";
        FORMAT_HAS_NO_FAILURES: ErrorFlagDropped = "the format has no failures";
        ONE_RESULT: ToolResultDropped = "a message has one result";
        MEDIUM_OF_A_DROPPED_RESULT: MediaDropped = "the medium's result has no place";
        JOINED_INTO_THE_CONTENT: PartFlattened = "texts are joined into the content";
        NO_BYTES_OF_MEDIA: MediaDropped = "the format has addresses and names of media, not their bytes";
        SOURCE_SYNTHESISED_THE_REFERENCE: ReferenceUnresolved = "the source made the reference up";
        QUOTED_MESSAGE_HAS_AN_ID: MessageIdSynthesised = "a quoted message has an id";
        NO_FURTHER_FIELDS_OF_A_QUOTE: ExtraDropped = "further fields of a quoted message have no place";
        ROSTER_NAMES_EVERYBODY: ParticipantSynthesised = "the roster names everybody who speaks or is quoted";
        FORMAT_HAS_NO_SECOND_NAMES: NameDropped = "the format has no second names";
        ROLE_IS_USER_OR_ASSISTANT: ParticipantDropped = "a role is user or assistant";
    }

    /// What any template may cost, beside what `hf-messages` does.
    TEMPLATE {
        SPECIAL_TOKENS_ARE_ESCAPED: ReservedTextEscaped = "special tokens in chat text are escaped";
        POLICY_KEEPS_SPECIAL_TOKENS: SpecialTokenInText = "policy keeps special tokens in chat text";
        TEMPLATE_PRINTS_A_SET_DATE: DatePinned = "the template prints the date that is set for it";
        TEMPLATE_TRIMS: WhitespaceTrimmed = "the template removes white space at the ends of a text";
        TEMPLATE_PRINTS_NO_SYSTEM_TEXT: SystemDropped = "the template does not print the system text";
        TEMPLATE_PRINTS_NO_RESULT: ToolResultDropped = "the template does not print the result";
        TEMPLATE_PRINTS_NO_REASONING: ReasoningDropped = "the template does not print the reasoning";
        TEMPLATE_PRINTS_NO_CALL: ToolCallDropped = "the template does not print the call";
        TEMPLATE_PRINTS_NO_IDS: ToolIdDropped = "the template does not print ids of calls";
        TEMPLATE_PRINTS_NO_DEFINITION: ToolDefinitionDropped = "the template does not print the definition of a tool";
        TEMPLATE_PRINTS_PART_OF_A_DEFINITION: ExtraDropped = "the template does not print all of a tool's definition";
        TEMPLATE_PRINTS_PART_OF_THE_ARGUMENTS: Truncated = "the template does not print all arguments";
        TEMPLATE_PRINTS_NO_TEXT: Truncated = "the template does not print the text";
        TEMPLATE_PRINTS_PART_OF_A_TEXT: Truncated = "the template prints a part of the text";
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_reasons_have_the_same_words() {
        let words: BTreeSet<_> = ALL.iter().map(|reason| reason.words()).collect();
        assert_eq!(words.len(), ALL.len());
    }

    #[test]
    fn a_reason_is_one_clause_without_a_rule_and_without_gaps_to_fill() {
        for reason in ALL {
            let words = reason.words();
            let (start, end) = (words.chars().next(), words.chars().last());
            assert!(start.is_some_and(char::is_alphabetic), "{words}");
            assert!(!end.is_some_and(|end| ".!?".contains(end)), "{words}");
            let has_gap = words.contains("{}") || words.contains("{:");
            let has_rule = words
                .get(3..7)
                .is_some_and(|rule| rule.starts_with('-') && rule.ends_with(':'));
            assert!(!has_gap && !has_rule && !words.contains('\n'), "{words}");
        }
    }
}
