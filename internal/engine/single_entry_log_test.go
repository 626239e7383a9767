package engine_test

import (
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/runlogtest"
)

// TestOnSingleEntryBatches passes the tests that read logs once more on one that yields
// its entries one by one.
func TestOnSingleEntryBatches(t *testing.T) {
	whole := newTestLog
	newTestLog = func() runlog.Log { return runlogtest.SingleEntryLog{Log: runlog.NewMemory()} }
	defer func() { newTestLog = whole }()
	for _, test := range []func(*testing.T){
		TestStrangeToolsEnd,
		TestAStopHoldsThoughAnotherProcessAnsweredFirst,
		TestARefusedUploadTakesNothingElseAway,
		TestAnAnswerThatFailsTakesNoEventsWithIt,
		TestListsAreInOrder,
		TestReplayFromEveryPrefix,
		TestAStepIsNotRepeated,
		TestRestartInterruptsWhatIsNotDurable,
		TestAChangedPhotonFailsAndSaysWhichCallDiffers,
		TestStopIsSeenSoon,
		TestTimeLimitPausesWhileAskIsOpen,
		TestAnAskOfItsOwnTimeExpires,
		TestEventsOfAFlushIntervalAreAppendedTogether,
		TestFinishedRunsAreKeptByCountAndAge,
		TestLimits,
		TestARunIsALogFromStartToResult,
		TestStartRefuses,
		TestAnswerRefuses,
		TestFirstAnswerWins,
		TestStrangersSeeNothing,
		TestCancelStopsTheGenerator,
		TestAToolThatIgnoresTheStopIsStoppedForEverybodyElse,
		TestHowToolsFail,
		TestIdempotencyKey,
		TestFilesReachTheGeneratorByTheBlobStore,
		TestSecretsAreNeverInTheLog,
		TestLargeDataGoesToTheBlobStore,
		TestCloseInterruptsWhatIsNotDurable,
		TestAWithdrawnQuestionFailsWithItsReason,
		TestWithdrawRefuses,
		TestAskTogetherIsMarkedInTheLog,
		TestAWorkerOfAnOlderEpochCantWrite,
		TestAWorkerSupersededInTheMiddleOfABatch,
		TestAnotherProcessMayAnswer,
	} {
		name := runtime.FuncForPC(reflect.ValueOf(test).Pointer()).Name()
		t.Run(name[strings.LastIndex(name, ".")+1:], test)
	}
}
